import type { Command } from "commander";
import { withDatabase } from "../../actions.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { addSelection, confirmChange, openVersions, selectionOf, type SelectionOptions } from "../confirm-change.ts";

interface Options extends SelectionOptions {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

const make =
  (name: "stop" | "restart", about: string) =>
  (io: Io): Command =>
    addSelection(
      newCommand(io, name, { about, examples: [`tasks ${name} hello greet -r manual__1`, `tasks ${name} hello -y`] })
        .argument("<dag>", "Id of the DAG.")
        .argument("[task...]", "Ids of the tasks. Default: all."),
    )
      .option("--dry-run", `Show what ${name} would concern.`)
      .option("-y, --yes", "Do not ask.")
      .action(async (dagId: string, taskIds: readonly string[], options: Options) => {
        await withDatabase(io, async (work) => {
          const [{ clearTasks, markTasks }, versions, selection] = await Promise.all([
            import("@millrace/shared/db"),
            openVersions(work),
            selectionOf(work, dagId, taskIds, options),
          ]);
          const running = { ...selection, onlyRunning: true };
          await confirmChange(io, work, {
            verb: name,
            yes: options.yes,
            dryRun: options.dryRun,
            run: async (dryRun) =>
              name === "stop"
                ? await markTasks(work.db, versions, { ...running, state: "failed", dryRun })
                : await clearTasks(work.db, versions, { ...running, dryRun }),
          });
        });
      });

export const stop = make("stop", "Stop tasks that run; they fail and are not tried again.");
export const restart = make("restart", "Stop tasks that run and start them afresh, without using a retry.");
