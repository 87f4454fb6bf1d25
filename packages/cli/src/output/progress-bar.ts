// How far a long work is, in one line. On a terminal it is drawn over; elsewhere a line is written when something ended,
// every few seconds at the most.
import pc from "picocolors";
import type { Io } from "../io/io.ts";

export interface Advance {
  readonly label: string;
  readonly total: number;
  readonly done: number;
  readonly failed: number;
  readonly running: number;
  readonly left: number;
  /** Ends in a second. */
  readonly rate: number | null;
  readonly secondsLeft: number | null;
  /** Instead of the rest of the line, as `paused`. */
  readonly note?: string | undefined;
}

export interface ProgressBar {
  show(advance: Advance): void;
  /** Leaves the last line standing. */
  end(): void;
}

const QUIET_MS = 5_000;

export function createProgressBar(io: Io, clock: () => number = () => performance.now()): ProgressBar {
  let last = "";
  if (io.isErrorTty) {
    return {
      show: (advance) => {
        const line = lineOf(io, advance, io.columns() - 1);
        if (line !== last) io.write(`\r\x1b[2K${line}`);
        last = line;
      },
      end: () => {
        if (last !== "") io.write("\n");
        last = "";
      },
    };
  }
  let writtenAt = -Infinity;
  return {
    show: (advance) => {
      const key = [advance.done, advance.failed, advance.left, advance.note].join();
      const isLast = advance.left === 0;
      if (key === last || (!isLast && clock() - writtenAt < QUIET_MS)) return;
      last = key;
      writtenAt = clock();
      io.write(`${textOf(io, advance)}\n`);
    },
    end: () => undefined,
  };
}

/** The line of a moment, without a bar: for one that is not drawn over, too. */
export function textOf(io: Io, advance: Advance): string {
  const { label, done, failed, running, left, rate, secondsLeft, note } = advance;
  const { green, red, cyan, dim, yellow } = io.colors;
  const speed = rate === null || left === 0 || note !== undefined ? [] : [dim(sayRate(rate))];
  const eta =
    left === 0 || note !== undefined ? [] : [`ETA ${secondsLeft === null ? "unknown" : saySpan(secondsLeft)}`];
  return [
    label,
    `${Math.floor(partOf(advance) * 100)} %`,
    `${green(`${done} done`)}, ${failed > 0 ? red(`${failed} failed`) : `${failed} failed`}, ${cyan(`${running} running`)}, ${left} left`,
    ...speed,
    ...eta,
    ...(note === undefined ? [] : [yellow(note)]),
  ].join("  ");
}

const PLAIN = pc.createColors(false);
const LEAST_BAR = 10;
const MOST_BAR = 40;

function lineOf(io: Io, advance: Advance, width: number): string {
  const plain = { ...io, colors: PLAIN } as const;
  const rest = textOf(plain, advance);
  const room = width - rest.length - 2;
  if (room < 0) return rest.slice(0, Math.max(0, width));
  if (room < LEAST_BAR) return textOf(io, advance);
  const bar = Math.min(MOST_BAR, room);
  const full = Math.floor(partOf(advance) * bar);
  return `${io.colors.green("█".repeat(full))}${io.colors.dim("░".repeat(bar - full))}  ${textOf(io, advance)}`;
}

/** The part that is over. What has nothing to do is over, unless a note says what it waits for. */
const partOf = ({ total, left, note }: Advance): number =>
  total === 0 ? (note === undefined ? 1 : 0) : (total - left) / total;

/** `4.2/s`, `12/min` or `3/h`: the unit in which it is more than one. */
export function sayRate(perSecond: number): string {
  const round = (n: number) => (n >= 10 ? String(Math.round(n)) : n.toFixed(1));
  if (perSecond >= 1) return `${round(perSecond)}/s`;
  return perSecond >= 1 / 60 ? `${round(perSecond * 60)}/min` : `${round(perSecond * 3_600)}/h`;
}

/** The two largest units: `1 h 05 min`, `3 min 20 s`, `2 d 4 h`. */
export function saySpan(seconds: number): string {
  const s = Math.round(seconds);
  if (s < 60) return `${s} s`;
  if (s < 3_600) return `${Math.floor(s / 60)} min ${String(s % 60).padStart(2, "0")} s`;
  if (s < 86_400) return `${Math.floor(s / 3_600)} h ${String(Math.floor((s % 3_600) / 60)).padStart(2, "0")} min`;
  return `${Math.floor(s / 86_400)} d ${Math.floor((s % 86_400) / 3_600)} h`;
}
