// Bars over time: a line a run, and a line for each of its tasks. One character is the same stretch of time everywhere.
import type { SimulatedRun, SimulatedTask } from "./result.ts";

export interface TimelineOptions {
  /** Characters of a line. @default 100 */
  readonly width?: number;
  /** Paints a bar by what it ended as; given whole bars. @default no colours */
  readonly paint?: (bar: string, state: string) => string;
  /** Runs that are drawn; the rest is counted. @default 50 */
  readonly maxRuns?: number;
}

/** A try that succeeded, that failed, that was skipped; time in the run without a try. */
const MARKS: Readonly<Record<string, string>> = { success: "█", failed: "▓", skipped: "░" };
const RUN = "─";
/** Within a try: it waits without a worker. */
const WAIT = "·";

export function drawTimeline(runs: readonly SimulatedRun[], options: TimelineOptions = {}): string {
  const { width = 100, maxRuns = 50, paint = (bar: string) => bar } = options;
  const shown = runs.slice(0, maxRuns);
  const begun = shown.flatMap((run) => run.startDate?.getTime() ?? []);
  if (begun.length === 0) return "no run started\n";
  const from = Math.min(...begun);
  const ends = shown.flatMap((run) => [
    run.endDate?.getTime() ?? from,
    ...run.tasks.flatMap((task) => task.endDate?.getTime() ?? []),
  ]);
  const until = Math.max(from + 1000, ...ends);
  const labels = shown.flatMap((run) => [run.runId, ...run.tasks.map((task) => `  ${task.taskId}`)]);
  const labelWidth = Math.min(44, Math.max(...labels.map((label) => label.length)));
  const barWidth = Math.max(10, width - labelWidth - 2 - 16);
  const column = (at: number) => Math.min(barWidth - 1, Math.floor(((at - from) / (until - from)) * barWidth));
  const line = (label: string, bar: string, end: string) => `${fit(label, labelWidth)}  ${bar}  ${end}`.trimEnd();

  const lines = [line("", axis(from, until, barWidth), "")];
  for (const run of shown) {
    const [start, end] = [run.startDate?.getTime(), run.endDate?.getTime()];
    const bar =
      start === undefined ? "" : stretch(column(start), column(end ?? until), RUN, run.state, paint, barWidth);
    lines.push(line(run.runId, bar === "" ? " ".repeat(barWidth) : bar, run.state));
    for (const task of run.tasks) {
      lines.push(line(`  ${task.taskId}`, taskBar(task, column, barWidth, paint), noteOf(task)));
    }
  }
  if (runs.length > shown.length) lines.push(`… and ${runs.length - shown.length} more runs`);
  return `${lines.join("\n")}\n`;
}

type Paint = (bar: string, state: string) => string;

function stretch(from: number, to: number, mark: string, state: string, paint: Paint, width: number): string {
  const length = Math.max(1, to - from + 1);
  return " ".repeat(from) + paint(mark.repeat(length), state) + " ".repeat(Math.max(0, width - from - length));
}

function taskBar(task: SimulatedTask, column: (at: number) => number, width: number, paint: Paint): string {
  let bar = "";
  let at = 0;
  for (const { startDate, endDate, state } of task.tries) {
    const from = Math.max(at, column(startDate.getTime()));
    const to = Math.max(from, column(endDate.getTime()));
    if (from >= width) break;
    const marks = Array.from({ length: to - from + 1 }, () => MARKS[state] ?? "▒");
    for (const wait of task.waits) {
      const end = column((wait.endDate ?? endDate).getTime());
      for (let i = Math.max(from, column(wait.startDate.getTime()) + 1); i <= Math.min(to, end) - 1; i++)
        marks[i - from] = WAIT;
    }
    bar += " ".repeat(from - at) + paint(marks.join(""), state);
    at = to + 1;
  }
  return bar + " ".repeat(Math.max(0, width - at));
}

function noteOf(task: SimulatedTask): string {
  return task.tries.length > 1 ? `${task.state}, try ${task.tryNumber}` : task.state;
}

const fit = (label: string, width: number): string =>
  label.length <= width ? label.padEnd(width) : `${label.slice(0, width - 1)}…`;

/** Where the time begins and ends, and how long a character is. */
function axis(from: number, until: number, width: number): string {
  const short = (at: number) => new Date(at).toISOString().slice(0, 19).replace("T", " ");
  const [left, right] = [short(from), short(until)];
  return left + " ".repeat(Math.max(1, width - left.length - right.length)) + right;
}
