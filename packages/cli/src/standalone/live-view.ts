// What a standalone shows while it runs: on a terminal a block that is drawn over, elsewhere a line now and then.
import type { Database } from "@millrace/shared/db";
import { Periodic, type Service } from "@millrace/shared/lifecycle";
import type { Io } from "../io/io.ts";
import { paintState } from "../output/paint-state.ts";
import { readOverview, type Overview, type RunLine } from "./read-overview.ts";

export interface LiveView extends Service {
  /** A line above what is drawn. */
  print(line: string): void;
}

const DRAW_EVERY_MS = 1_000;
const TELL_EVERY_MS = 10_000;
const MAX_RUNS = 8;

export function createLiveView(io: Io, db: Database): LiveView {
  let drawn = 0;
  let last = "";
  const erase = () => (drawn === 0 ? "" : `\x1b[${drawn}A\x1b[0J`);
  const draw = (overview: Overview) => {
    const lines = blockOf(io, overview);
    io.out(`${erase()}${lines.join("\n")}\n`);
    drawn = lines.length;
    last = lines.join("\n");
  };
  const tell = (overview: Overview) => {
    const line = summaryOf(overview);
    if (line !== last) io.out(`${line}\n`);
    last = line;
  };
  const look = async () => {
    const overview = await readOverview(db, MAX_RUNS);
    if (io.isTty) draw(overview);
    else tell(overview);
  };
  const periodic = new Periodic({
    everyMs: io.isTty ? DRAW_EVERY_MS : TELL_EVERY_MS,
    run: look,
    // The database is about to stop, or says so itself.
    onError: () => undefined,
  });
  return {
    start: async () => {
      await look();
      await periodic.start();
    },
    stop: async () => {
      await periodic.stop();
      drawn = 0;
    },
    print: (line) => io.out(io.isTty && drawn > 0 ? `${erase()}${line}\n${last}\n` : `${line}\n`),
  };
}

export const summaryOf = (o: Overview): string =>
  [
    `DAGs ${o.dags} (${o.unpaused} unpaused)`,
    `runs ${o.runningRuns} running, ${o.queuedRuns} queued`,
    `tasks ${o.tasksLastMinute} in the last minute`,
    ...(o.importErrors > 0 ? [`import errors ${o.importErrors}`] : []),
  ].join("   ");

function blockOf(io: Io, overview: Overview): string[] {
  const { colors } = io;
  const width = Math.max(20, io.columns() - 42);
  const names = overview.runs.map((run) => `${run.dagId}  ${run.runId}`);
  const longest = Math.min(width, Math.max(0, ...names.map((name) => name.length)));
  return [
    "",
    colors.bold(summaryOf(overview).slice(0, io.columns())),
    ...overview.runs.map((run, i) => `  ${fit(names[i] ?? "", longest)}  ${runText(io, run)}`),
  ];
}

const fit = (text: string, width: number): string =>
  text.length > width ? `${text.slice(0, width - 1)}…` : text.padEnd(width);

const runText = (io: Io, run: RunLine): string =>
  `${paintState(io, run.state.padEnd(8))} ${`${run.finished}/${run.total} tasks`.padEnd(14)}${
    run.seconds === null ? "" : io.colors.dim(`${run.seconds.toFixed(1)} s`)
  }`;
