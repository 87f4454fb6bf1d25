import type { RunRow } from "@millrace/shared/db";
import type { Command } from "commander";
import { instant, wholeNumber } from "../../io/arguments.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { withMasked } from "../../open-secrets.ts";
import { addOutputOption, printList, type Column, type OutputOption } from "../../output/format.ts";

const COLUMNS: readonly Column<RunRow>[] = [
  { key: "dag_id", value: (run) => run.dagId, for: "programs" },
  { key: "run_id", value: (run) => run.runId },
  { key: "state", value: (run) => run.state },
  { key: "run_type", value: (run) => run.runType, for: "programs" },
  { key: "logical_date", value: (run) => run.logicalDate },
  { key: "run_after", value: (run) => run.runAfter, for: "programs" },
  { key: "start_date", value: (run) => run.startDate },
  { key: "end_date", value: (run) => run.endDate },
  {
    key: "duration",
    value: (run) => run.duration,
    shown: (run) => (run.duration === null ? "-" : `${run.duration.toFixed(2)} s`),
  },
  { key: "conf", value: (run) => run.conf, for: "programs" },
];

interface Options extends OutputOption {
  readonly state?: string;
  readonly startDate?: Date;
  readonly endDate?: Date;
  readonly limit: number;
}

export const listRuns = (io: Io): Command =>
  addOutputOption(
    newCommand(io, "list-runs", {
      about: "List the runs of a DAG, newest first.",
      examples: ["dags list-runs hello", "dags list-runs hello --state failed -o json"],
    })
      .argument("<dag>", "Id of the DAG.")
      .option("--state <state>", "Only those in this state.")
      .option("-s, --start-date <date>", "Only logical dates from here on.", instant)
      .option("-e, --end-date <date>", "Only logical dates up to here.", instant)
      .option("--limit <n>", "At most so many.", wholeNumber(1), 100),
  ).action(async (dagId: string, options: Options) => {
    const page = await withMasked(io, async ({ db, io: masked }) => {
      const reads = await import("@millrace/shared/db");
      await reads.getDag(db, dagId);
      const found = await reads.listRuns(db, dagId, {
        ...(options.state === undefined ? {} : { state: [options.state] }),
        logicalDate: { gte: options.startDate, lte: options.endDate },
        orderBy: ["-run_after"],
        limit: options.limit,
      });
      await printList(masked, options.output, COLUMNS, found.items);
      return found;
    });
    if (page.totalEntries > page.items.length)
      io.note(`${page.items.length} of ${page.totalEntries} runs; see --limit`);
  });
