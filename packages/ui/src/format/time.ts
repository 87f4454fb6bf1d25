// Times as people read them: local, with the name of the zone. Pure: now and zone can be given.
const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone;

// Making a formatter costs a hundred times what using one does, and a log has thousands of times.
const formatters = new Map<string, Intl.DateTimeFormat>();
function formatterOf(kind: keyof typeof KINDS, zone: string): Intl.DateTimeFormat {
  const key = `${kind} ${zone}`;
  const kept = formatters.get(key) ?? new Intl.DateTimeFormat("en-GB", { ...KINDS[kind], timeZone: zone });
  formatters.set(key, kept);
  return kept;
}

const KINDS = {
  time: { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short" },
  clock: { hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3 },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

/** `30 Nov 2026, 21:05 CET` */
export const formatTime = (instant: string | null, zone: string = HERE): string =>
  instant === null ? "—" : formatterOf("time", zone).format(new Date(instant));

/** `21:05:09.120` */
export const formatClock = (instant: string, zone: string = HERE): string =>
  formatterOf("clock", zone).format(new Date(instant));

const STEPS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** `in 3 hours`, `2 minutes ago`, `now`. */
export function formatRelative(instant: string, nowMs: number): string {
  const seconds = (Date.parse(instant) - nowMs) / 1000;
  const [unit, length] = STEPS.find(([, size]) => Math.abs(seconds) >= size) ?? ["second", 1];
  if (unit === "second" && Math.abs(seconds) < 5) return "now";
  return new Intl.RelativeTimeFormat("en", { numeric: "always" }).format(Math.round(seconds / length), unit);
}

/** `0.42 s`, `12.3 s`, `4 min 05 s`, `2 h 07 min`, `3 d 04 h`. */
export function formatDuration(seconds: number | null): string {
  if (seconds === null || !Number.isFinite(seconds) || seconds < 0) return "—";
  if (seconds < 1) return `${seconds.toFixed(2)} s`;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const pair = (big: number, bigUnit: string, small: number, smallUnit: string): string =>
    `${big} ${bigUnit} ${String(small).padStart(2, "0")} ${smallUnit}`;
  if (whole < 3_600) return pair(Math.floor(whole / 60), "min", whole % 60, "s");
  if (whole < 86_400) return pair(Math.floor(whole / 3_600), "h", Math.floor((whole % 3_600) / 60), "min");
  return pair(Math.floor(whole / 86_400), "d", Math.floor((whole % 86_400) / 3_600), "h");
}

/** Seconds from start to end, or to now while it goes on. */
export function elapsed(start: string | null, end: string | null, nowMs: number): number | null {
  if (start === null) return null;
  return Math.max(0, ((end === null ? nowMs : Date.parse(end)) - Date.parse(start)) / 1000);
}
