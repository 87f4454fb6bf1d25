import type { Command } from "commander";
import { withDatabase } from "../../actions.ts";
import { mapIndex } from "../../io/arguments.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { UsageError } from "../../io/report-error.ts";
import { addSelection, confirmChange, openVersions, selectionOf, type SelectionOptions } from "../confirm-change.ts";

interface Options extends SelectionOptions {
  readonly mapIndex?: readonly number[];
  readonly onlyFailed?: boolean;
  readonly onlyRunning?: boolean;
  readonly preventRunning?: boolean;
  readonly runOnLatestVersion?: boolean;
  readonly recursive?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export const clear = (io: Io): Command =>
  addSelection(
    newCommand(io, "clear", {
      about: "Let tasks start afresh; their finished runs are queued again, what runs is stopped first.",
      examples: [
        "tasks clear hello say -r manual__1",
        "tasks clear report -t '^load' -s 2026-01-01 -e 2026-01-31 -d --only-failed",
        "tasks clear report load -r manual__1 --map-index 3",
        "tasks clear report --dry-run",
      ],
    })
      .argument("<dag>", "Id of the DAG.")
      .argument("[task...]", "Ids of the tasks. Default: all."),
  )
    .option(
      "--map-index <n>",
      "Which instance of the named mapped tasks; more than once for several. Default: all.",
      (given: string, before: readonly number[] | undefined) => [...(before ?? []), mapIndex(given)],
    )
    .option("-f, --only-failed", "Only those that failed, or whose upstream did.")
    .option("--only-running", "Only those that a worker has.")
    .option("--prevent-running", "Clear nothing when a worker has one of them.")
    .option("--run-on-latest-version", "Go on with the newest version of the DAG. Default: the run's own.")
    .option("--recursive", "Also what waits for these in other DAGs, behind their external-task markers.")
    .option("--dry-run", "Show what would be cleared, and clear nothing.")
    .option("-y, --yes", "Do not ask.")
    .action(async (dagId: string, taskIds: readonly string[], options: Options) => {
      if ((options.past === true || options.future === true) && options.run === undefined) {
        throw new UsageError("--past and --future say which runs beside that of --run: give it as well.");
      }
      if (options.run !== undefined && (options.startDate !== undefined || options.endDate !== undefined)) {
        throw new UsageError("Give either --run or dates, not both.");
      }
      const { mapIndex: indexes } = options;
      if (indexes !== undefined && taskIds.length === 0) {
        throw new UsageError("--map-index says which instances of the tasks that are named: name them as well.");
      }
      await withDatabase(io, async (work) => {
        const [{ clearTasks }, versions, selection] = await Promise.all([
          import("@millrace/shared/db"),
          openVersions(work),
          selectionOf(work, dagId, taskIds, options),
        ]);
        await confirmChange(io, work, {
          verb: "clear",
          yes: options.yes,
          dryRun: options.dryRun,
          run: async (dryRun) =>
            await clearTasks(work.db, versions, {
              ...selection,
              ...(indexes === undefined
                ? {}
                : { mapIndexes: Object.fromEntries(taskIds.map((taskId) => [taskId, indexes])) }),
              withSetups: true,
              onlyFailed: options.onlyFailed ?? false,
              onlyRunning: options.onlyRunning ?? false,
              preventRunningTask: options.preventRunning ?? false,
              recursive: options.recursive ?? false,
              runOnLatestVersion: options.runOnLatestVersion ?? false,
              dryRun,
            }),
        });
      });
    });
