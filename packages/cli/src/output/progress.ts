// Task states as they change. On a terminal one block that is drawn over; elsewhere a line for each change.
import type { Io } from "../io/io.ts";
import { paintState } from "./paint-state.ts";

export interface TaskLine {
  /** Task id, with its index when it is mapped. */
  readonly label: string;
  readonly state: string;
  readonly note?: string | undefined;
}

export interface Progress {
  show(tasks: readonly TaskLine[]): void;
  /** A line that stays. */
  print(line: string): void;
  /** Leaves the last states standing. */
  end(): void;
}

export interface ProgressOptions {
  readonly write: (text: string) => void;
  readonly isTty: boolean;
  /** Lines of a block at most. Default 20. */
  readonly maxLines?: number;
}

export const createProgress = (io: Io, options: ProgressOptions): Progress =>
  options.isTty ? blockProgress(io, options) : lineProgress(io, options);

function lineProgress(io: Io, { write }: ProgressOptions): Progress {
  const last = new Map<string, string>();
  return {
    show: (tasks) => {
      for (const task of tasks) {
        if (last.get(task.label) === task.state) continue;
        // A state at first sight is news unless nothing has happened yet.
        if (last.has(task.label) || task.state !== "none") write(`${lineOf(io, task, 0)}\n`);
        last.set(task.label, task.state);
      }
    },
    print: (line) => write(`${line}\n`),
    end: () => undefined,
  };
}

function blockProgress(io: Io, { write, maxLines = 20 }: ProgressOptions): Progress {
  let drawn: readonly string[] = [];
  const erase = () => (drawn.length === 0 ? "" : `\x1b[${drawn.length}A\x1b[0J`);
  const text = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");
  return {
    show: (tasks) => {
      const lines = blockOf(io, tasks, maxLines);
      if (lines.join("\n") === drawn.join("\n")) return;
      write(erase() + text(lines));
      drawn = lines;
    },
    print: (line) => write(`${erase()}${line}\n${text(drawn)}`),
    end: () => (drawn = []),
  };
}

const STATE_AND_NOTE = 45;
const QUIET = new Set(["none", "success", "skipped"]);

function blockOf(io: Io, tasks: readonly TaskLine[], maxLines: number): string[] {
  // A line that wraps could not be drawn over.
  const longest = Math.max(1, ...tasks.map((task) => task.label.length));
  const width = Math.min(longest, Math.max(10, io.columns() - STATE_AND_NOTE));
  if (tasks.length <= maxLines) return tasks.map((task) => lineOf(io, task, width));
  const loud = tasks.filter((task) => !QUIET.has(task.state)).slice(0, maxLines - 1);
  const counts = countStates(tasks);
  const summary = [...counts].map(([state, count]) => `${count} ${paintState(io, state)}`).join(", ");
  return [...loud.map((task) => lineOf(io, task, width)), `${tasks.length} tasks: ${summary}`];
}

function countStates(tasks: readonly TaskLine[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { state } of tasks) counts.set(state, (counts.get(state) ?? 0) + 1);
  return counts;
}

const fit = (text: string, width: number): string =>
  text.length > width ? `${text.slice(0, width - 1)}…` : text.padEnd(width);

const lineOf = (io: Io, task: TaskLine, width: number): string =>
  `  ${width === 0 ? task.label : fit(task.label, width)}  ${paintState(io, task.state)}${task.note === undefined ? "" : io.colors.dim(`  ${task.note}`)}`;
