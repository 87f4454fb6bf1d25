// A state is a colour and a shape and a word: nobody has to tell red from green.

export const STATES = [
  "success",
  "running",
  "failed",
  "upstream_failed",
  "up_for_retry",
  "up_for_reschedule",
  "restarting",
  "shutdown",
  "deferred",
  "queued",
  "scheduled",
  "skipped",
  "removed",
  "none",
] as const;
export type State = (typeof STATES)[number];

const WORDS: Readonly<Record<State, string>> = {
  success: "success",
  running: "running",
  failed: "failed",
  upstream_failed: "upstream failed",
  up_for_retry: "up for retry",
  up_for_reschedule: "up for reschedule",
  restarting: "restarting",
  shutdown: "shutting down",
  deferred: "deferred",
  queued: "queued",
  scheduled: "scheduled",
  skipped: "skipped",
  removed: "removed",
  none: "no status",
};

export const stateOf = (text: string | null | undefined): State => STATES.find((state) => state === text) ?? "none";
export const wordOf = (state: State): string => WORDS[state];

// What a mark of many task instances shows: the one that asks for attention first.
const URGENCY: readonly State[] = [
  "failed",
  "upstream_failed",
  "up_for_retry",
  "restarting",
  "shutdown",
  "running",
  "queued",
  "scheduled",
  "deferred",
  "up_for_reschedule",
  "none",
  "success",
  "skipped",
  "removed",
];

/** One state, or how many task instances are in which. */
export type States = string | Readonly<Record<string, number>>;

export const foremost = (states: States): State =>
  typeof states === "string" ? stateOf(states) : (URGENCY.find((state) => (states[state] ?? 0) > 0) ?? "none");

/** `3 failed, 7 success`. */
export function describeStates(states: States): string {
  if (typeof states === "string") return wordOf(stateOf(states));
  const present = URGENCY.filter((state) => (states[state] ?? 0) > 0);
  const total = present.reduce((sum, state) => sum + (states[state] ?? 0), 0);
  const only = present[0];
  if (only !== undefined && total === 1) return wordOf(only);
  return present.map((state) => `${states[state]} ${wordOf(state)}`).join(", ");
}

const ENDED = new Set<State>(["success", "failed", "skipped", "upstream_failed", "removed"]);
export const hasEnded = (state: State): boolean => ENDED.has(state);
