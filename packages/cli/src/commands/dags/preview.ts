import type { DagPreview } from "@millrace/shared/db";
import type { PreviewedRun } from "@millrace/shared/model";
import { Option, type Command } from "commander";
import { withDatabase } from "../../actions.ts";
import { instant, wholeNumber } from "../../io/arguments.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { addOutputOption, printList, type Column, type OutputOption } from "../../output/format.ts";
import { createProgressLine } from "../../output/progress-line.ts";

interface Options extends OutputOption {
  readonly unpause?: boolean;
  readonly from?: Date;
  readonly to?: Date;
  readonly limit: number;
  readonly schedule?: string;
  readonly timezone?: string;
  readonly catchup?: string;
  readonly startDate?: Date;
}

export const preview = (io: Io): Command =>
  addOutputOption(
    newCommand(io, "preview", {
      about: "Show which runs the schedule of a DAG will create. Creates none.",
      examples: [
        "dags preview report --unpause",
        "dags preview report --from 2026-03-28 --to 2026-03-31",
        `dags preview report --schedule "30 2 * * *" --timezone Europe/Berlin`,
      ],
    })
      .argument("<dag>", "Id of the DAG.")
      .option("--unpause", "As if the DAG were unpaused now.")
      .option(
        "--from <date>",
        "Runs that become due from then on. Default: those due already, and later ones.",
        instant,
      )
      .option("--to <date>", "Runs that become due until then. Default: seven days on.", instant)
      .option("-n, --limit <n>", "The most runs to show; all are counted.", wholeNumber(0, 10_000), 50)
      .option("--schedule <schedule>", "As if its schedule were changed to this preset or cron expression, or none.")
      .option("--timezone <zone>", "The zone of that schedule. Default: UTC.")
      .addOption(
        new Option("--catchup <catchup>", "As if its catchup were changed.").choices(["true", "false", "none"]),
      )
      .option("--start-date <date>", "As if its start date were changed.", instant),
  ).action(async (dagId: string, options: Options) => {
    const shown = await withDatabase(io, async ({ db }) => {
      const { previewDag, readScheduleChange } = await import("@millrace/shared/db");
      const change = readScheduleChange(options);
      const { unpause, from, to, limit } = options;
      const progress = createProgressLine(io);
      const onCounted = (runs: number) => progress.show(`${runs.toLocaleString("en-US")} runs found`);
      return await previewDag(db, dagId, { unpause, from, until: to, limit, change, onCounted }).finally(progress.end);
    });
    if (options.output !== "table") return await printList(io, options.output, columnsOf(shown), shown.runs);
    const { summarizePreview, summarizeSchedule } = await import("@millrace/shared/model");
    io.out(`${io.colors.bold(summarizePreview(shown))}\n`);
    const facts = [`schedule ${summarizeSchedule(shown.schedule)}`, shown.timezone, `catchup ${shown.catchup}`];
    io.out(`${io.colors.dim(facts.join(", "))}\n`);
    if (shown.runs.length > 0) io.out("\n");
    if (shown.runs.length > 0) await printList(io, "table", columnsOf(shown), shown.runs);
    if (shown.earlier > 0) io.out(`\n${shown.earlier.toLocaleString("en-US")} more are created before the range\n`);
    if (shown.remarks.length > 0) io.out(`\n${shown.remarks.join("\n")}\n`);
  });

/** `2026-03-29 03:00 +02:00` of an ISO text with an offset. */
function short(local: string): string {
  const [, date = "", time = "", seconds = "", offset = ""] = /^(.{10})T(.{5}):(..)(.*)$/.exec(local) ?? [];
  return `${date} ${time}${seconds === "00" ? "" : `:${seconds}`} ${offset}`;
}

/** The end without its day where that is the day of the start. */
function interval({ run, local }: PreviewedRun): string {
  if (run.interval.start === run.interval.end) return short(local.start).slice(0, -7);
  const [start, end] = [short(local.start).slice(0, -7), short(local.end).slice(0, -7)];
  return `${start} – ${end.slice(0, 10) === start.slice(0, 10) ? end.slice(11) : end}`;
}

const iso = (instant: number): string => new Date(instant).toISOString();

const columnsOf = ({ timezone }: DagPreview): readonly Column<PreviewedRun>[] => [
  { key: "interval", value: (row) => [iso(row.run.interval.start), iso(row.run.interval.end)], shown: interval },
  { key: "local_time", value: (row) => row.local.runAfter, shown: (row) => `${short(row.local.runAfter)} ${timezone}` },
  {
    key: "utc",
    value: (row) => iso(row.run.runAfter),
    shown: (row) => iso(row.run.runAfter).slice(0, 19).replace("T", " ").replace(/:00$/, ""),
  },
  {
    key: "starts",
    value: (row) => (row.isCreated ? (row.isDue ? "at once" : "on time") : "never"),
  },
  { key: "remarks", value: (row) => row.remarks, shown: (row) => row.remarks.join("; ") },
  { key: "run_id", value: (row) => row.runId, for: "programs" },
  { key: "logical_date", value: (row) => iso(row.run.logicalDate), for: "programs" },
];
