import type { Command } from "commander";
import { withDatabase } from "../../actions.ts";
import { mapIndex } from "../../io/arguments.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { findRun } from "../find-run.ts";

export const state = (io: Io): Command =>
  newCommand(io, "state", {
    about: "Print the state of one task of a run.",
    examples: ["tasks state hello greet manual__1", "tasks state hello greet 2026-01-31 --map-index 3"],
  })
    .argument("<dag>", "Id of the DAG.")
    .argument("<task>", "Id of the task.")
    .argument("<run>", "Run id, or logical date.")
    .option("--map-index <n>", "Which instance of a mapped task.", mapIndex, -1)
    .action(async (dagId: string, task: string, run: string, options: { readonly mapIndex: number }) => {
      const found = await withDatabase(io, async ({ db }) => {
        const { getTaskInstance } = await import("@millrace/shared/db");
        const { runId } = await findRun({ db }, dagId, run);
        return await getTaskInstance(db, { dagId, runId, taskId: task, mapIndex: options.mapIndex });
      });
      io.out(`${found.state}\n`);
    });
