import type { TaskInstanceRow } from "@millrace/shared/db";
import type { Command } from "commander";
import { withDatabase } from "../../actions.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { addOutputOption, printList, type Column, type OutputOption } from "../../output/format.ts";
import { findRun } from "../find-run.ts";

const COLUMNS: readonly Column<TaskInstanceRow>[] = [
  { key: "dag_id", value: (ti) => ti.dagId, for: "programs" },
  { key: "run_id", value: (ti) => ti.runId, for: "programs" },
  { key: "logical_date", value: (ti) => ti.logicalDate, for: "programs" },
  { key: "task_id", value: (ti) => ti.taskId },
  { key: "map_index", value: (ti) => ti.mapIndex, shown: (ti) => (ti.mapIndex < 0 ? "-" : String(ti.mapIndex)) },
  { key: "rendered_map_index", value: (ti) => ti.renderedMapIndex, shown: (ti) => ti.renderedMapIndex ?? "-" },
  { key: "state", value: (ti) => ti.state },
  { key: "try_number", value: (ti) => ti.tryNumber },
  { key: "start_date", value: (ti) => ti.startDate },
  { key: "end_date", value: (ti) => ti.endDate },
  {
    key: "duration",
    value: (ti) => ti.duration,
    shown: (ti) => (ti.duration === null ? "-" : `${ti.duration.toFixed(2)} s`),
  },
];

export const statesForDagRun = (io: Io): Command =>
  addOutputOption(
    newCommand(io, "states-for-dag-run", {
      about: "Show the state of every task of a run.",
      examples: ["tasks states-for-dag-run hello 2026-01-31"],
    })
      .argument("<dag>", "Id of the DAG.")
      .argument("<run>", "Run id, or logical date."),
  ).action(async (dagId: string, run: string, options: OutputOption) => {
    const page = await withDatabase(io, async ({ db }) => {
      const { listTaskInstances } = await import("@millrace/shared/db");
      const { runId } = await findRun({ db }, dagId, run);
      return await listTaskInstances(db, dagId, runId, { orderBy: ["start_date", "task_id", "map_index"] });
    });
    await printList(io, options.output, COLUMNS, page.items);
  });
