import type { Command } from "commander";
import { withDatabase } from "../../actions.ts";
import { mapIndex } from "../../io/arguments.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { confirmChange, openVersions, selectionOf } from "../confirm-change.ts";

interface Options {
  readonly mapIndex?: number;
  readonly upstream?: boolean;
  readonly downstream?: boolean;
  readonly past?: boolean;
  readonly future?: boolean;
  readonly callbacks: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export const setState = (io: Io): Command =>
  newCommand(io, "set-state", {
    about: "Give a task a state. What runs is stopped and ends so; what failed because of it is cleared.",
    examples: ["tasks set-state hello greet manual__1 success", "tasks set-state report load 2026-01-31 failed -d -y"],
  })
    .argument("<dag>", "Id of the DAG.")
    .argument("<task>", "Id of the task.")
    .argument("<run>", "Run id, or logical date.")
    .argument("<state>", "success, failed or skipped.")
    .option("--map-index <n>", "Which instance of a mapped task. Default: all.", mapIndex)
    .option("-u, --upstream", "And everything upstream.")
    .option("-d, --downstream", "And everything downstream.")
    .option("--past", "And the runs before.")
    .option("--future", "And the runs after.")
    .option("--no-callbacks", "Without the tasks' own callbacks.")
    .option("--dry-run", "Show what would be changed, and change nothing.")
    .option("-y, --yes", "Do not ask.")
    .action(async (dagId: string, taskId: string, run: string, state: string, options: Options) => {
      await withDatabase(io, async (work) => {
        const [{ markTasks }, versions, selection] = await Promise.all([
          import("@millrace/shared/db"),
          openVersions(work),
          selectionOf(work, dagId, [taskId], { ...options, run: [run] }),
        ]);
        await confirmChange(io, work, {
          verb: `set ${state}`,
          yes: options.yes,
          dryRun: options.dryRun,
          run: async (dryRun) =>
            await markTasks(work.db, versions, {
              ...selection,
              ...(options.mapIndex === undefined ? {} : { mapIndexes: { [taskId]: [options.mapIndex] } }),
              state,
              runCallbacks: options.callbacks,
              dryRun,
            }),
        });
      });
    });
