import type { XComRow } from "@millrace/shared/db";
import type { Command } from "commander";
import { withDatabase } from "../../actions.ts";
import { wholeNumber } from "../../io/arguments.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { addOutputOption, printList, type Column, type OutputOption } from "../../output/format.ts";
import { findRun } from "../find-run.ts";

const COLUMNS: readonly Column<XComRow>[] = [
  { key: "task_id", value: (xcom) => xcom.taskId },
  { key: "map_index", value: (xcom) => xcom.mapIndex },
  { key: "key", value: (xcom) => xcom.key },
  { key: "bytes", value: (xcom) => xcom.bytes },
  { key: "kept_in", value: (xcom) => (xcom.isStored ? "object store" : "database") },
  { key: "timestamp", value: (xcom) => xcom.timestamp },
];

interface Options extends OutputOption {
  readonly limit: number;
  readonly task?: string;
}

export const list = (io: Io): Command =>
  addOutputOption(
    newCommand(io, "list", {
      about: "List the XComs of a run, or of one of its tasks.",
      examples: ["xcoms list hello manual__1", "xcoms list hello 2026-01-31 --task greet -o json"],
    })
      .argument("<dag>", "Id of the DAG.")
      .argument("<run>", "Run id, or logical date.")
      .option("--task <id>", "Of this task. Default: of all.")
      .option("--limit <n>", "At most so many.", wholeNumber(1), 100),
  ).action(async (dagId: string, run: string, options: Options) => {
    const page = await withDatabase(io, async ({ db }) => {
      const { listXComs } = await import("@millrace/shared/db");
      const { runId } = await findRun({ db }, dagId, run);
      return await listXComs(db, { dagId, runId, taskId: options.task ?? "~", limit: options.limit });
    });
    await printList(io, options.output, COLUMNS, page.items);
    if (page.totalEntries > page.items.length) {
      io.note(`${page.items.length} of ${page.totalEntries} XComs; see --limit`);
    }
  });
