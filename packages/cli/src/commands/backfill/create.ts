import type { PreviewedDate } from "@millrace/shared/db";
import { Option, type Command } from "commander";
import { withDatabase, type DatabaseWork } from "../../actions.ts";
import { instant, jsonObject, wholeNumber } from "../../io/arguments.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { Ended, UsageError } from "../../io/report-error.ts";
import { addOutputOption, printList, type Column, type OutputOption } from "../../output/format.ts";
import { createProgressLine } from "../../output/progress-line.ts";
import { userName } from "../../user-name.ts";
import { BACKFILL_COLUMNS } from "./columns.ts";

type Behavior = "none" | "failed" | "completed";

interface Options extends OutputOption {
  readonly dagId: string;
  readonly fromDate?: Date;
  readonly startDate?: Date;
  readonly toDate?: Date;
  readonly endDate?: Date;
  readonly reprocessingBehavior?: Behavior;
  readonly reprocessBehavior?: Behavior;
  readonly maxActiveRuns: number;
  readonly runBackwards?: boolean;
  readonly dagRunConf?: Record<string, unknown>;
  readonly runOnLatestVersion: boolean;
  readonly dryRun?: boolean;
  readonly wait?: boolean;
}

const behavior = (flags: string, about: string): Option =>
  new Option(flags, about).choices(["none", "failed", "completed"] satisfies Behavior[]);

export const create = (io: Io): Command =>
  addOutputOption(
    newCommand(io, "create", {
      about: "Run a DAG for dates of its past. What failed or ended there already is run again only if you say so.",
      examples: [
        "backfill create --dag-id report --from-date 2026-01-01 --to-date 2026-01-31 --wait",
        "backfill create --dag-id report --from-date 2026-01-01 --to-date 2026-01-31 --reprocessing-behavior failed --dry-run",
      ],
    })
      .requiredOption("--dag-id <dag>", "Id of the DAG.")
      .option("--from-date <date>", "The first logical date, included.", instant)
      .addOption(new Option("--start-date <date>", "The same as --from-date.").argParser(instant))
      .option(
        "--to-date <date>",
        "The last logical date, included. What is not over yet is left to the schedule.",
        instant,
      )
      .addOption(new Option("--end-date <date>", "The same as --to-date.").argParser(instant))
      .addOption(behavior("--reprocessing-behavior <which>", "Which runs that exist are run again. Default: none."))
      .addOption(behavior("--reprocess-behavior <which>", "The same as --reprocessing-behavior.").hideHelp())
      .option("--max-active-runs <n>", "Runs of it at once, beside those of the schedule.", wholeNumber(1), 10)
      .option("--run-backwards", "The latest date first. Not for tasks that depend on their past.")
      .option("--dag-run-conf <json>", "What the runs are started with: a JSON object.", jsonObject)
      .option(
        "--run-on-latest-version",
        "What is run again goes on with the DAG's newest version. This is the default.",
      )
      .option("--no-run-on-latest-version", "What is run again keeps the version that it had.")
      .option("--dry-run", "List the dates that would run, and create nothing.")
      .option("--wait", "Show how far it is until it is over; end with 1 when a run failed."),
  ).action(async (options: Options) => {
    const from = options.fromDate ?? options.startDate;
    const to = options.toDate ?? options.endDate;
    if (from === undefined || to === undefined) {
      throw new UsageError("Say for which dates: --from-date and --to-date.");
    }
    const request = {
      dagId: options.dagId,
      from,
      to,
      reprocessBehavior: options.reprocessingBehavior ?? options.reprocessBehavior,
      maxActiveRuns: options.maxActiveRuns,
      runBackwards: options.runBackwards,
      conf: options.dagRunConf,
      runOnLatestVersion: options.runOnLatestVersion,
      user: userName(),
    };
    await withDatabase(io, async (work) => {
      const { createBackfill, DagVersions, previewBackfill } = await import("@millrace/shared/db");
      const versions = new DagVersions(work.db);
      const progress = createProgressLine(io);
      const asked = { ...request, onDates: (count: number) => progress.show(`${count} dates found`) };
      if (options.dryRun === true) {
        const { dates, leftOut } = await previewBackfill(work.db, versions, asked).finally(progress.end);
        await printList(io, options.output, DATE_COLUMNS, dates);
        return io.note(`${dates.length} dates would run, ${leftOut} are left out: they have a run`);
      }
      const id = await createBackfill(work.db, versions, asked).finally(progress.end);
      await show(io, work, id, options);
    });
  });

const DATE_COLUMNS: readonly Column<PreviewedDate>[] = [
  { key: "logical_date", value: (date) => date.logicalDate },
  { key: "verdict", value: (date) => date.verdict },
];

async function show(io: Io, { db, config }: DatabaseWork, id: number, options: Options): Promise<void> {
  const [{ getBackfill }, { wakeSchedulers }] = await Promise.all([
    import("@millrace/shared/db"),
    import("../../process/wake-schedulers.ts"),
  ]);
  await wakeSchedulers(config, null);
  const created = await getBackfill(db, id);
  if (options.output === "table") {
    const dates = created.isPlanned ? `${created.total} dates` : "the dates that its timetable tells the dag-processor";
    io.out(`backfill ${id} of ${created.dagId}: ${dates}, ${created.maxActiveRuns} at once\n`);
  }
  if (created.dagIsPaused) {
    io.note(`${created.dagId} is paused: the runs wait until \`millrace dags unpause ${created.dagId}\``);
  }
  const watch = options.wait === true ? (await import("./watch-backfill.ts")).watchBackfill : undefined;
  const backfill = (await watch?.(io, db, id)) ?? created;
  if (options.output !== "table") await printList(io, options.output, BACKFILL_COLUMNS, [backfill]);
  if (backfill.planError !== null) io.note(backfill.planError);
  const hasFailed = backfill.failed > 0 || backfill.isPaused || backfill.planError !== null;
  if (options.wait === true && hasFailed) throw new Ended(1);
}
