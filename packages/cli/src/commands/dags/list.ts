import type { DagRow } from "@millrace/shared/db";
import type { Command } from "commander";
import { withDatabase } from "../../actions.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { addOutputOption, printList, type Column, type OutputOption } from "../../output/format.ts";

const COLUMNS: readonly Column<DagRow>[] = [
  { key: "dag_id", value: (dag) => dag.dagId },
  { key: "schedule", value: (dag) => dag.timetableSummary },
  { key: "is_paused", value: (dag) => dag.isPaused, shown: (dag) => (dag.isPaused ? "yes" : "no") },
  { key: "last_run_state", value: (dag) => dag.lastRunState },
  { key: "last_run_start_date", value: (dag) => dag.lastRunStartDate, for: "programs" },
  { key: "next_dagrun_create_after", value: (dag) => dag.nextDagrunCreateAfter, for: "programs" },
  { key: "owners", value: (dag) => dag.owners },
  { key: "tags", value: (dag) => dag.tags },
  { key: "fileloc", value: (dag) => dag.relativeFileloc },
  { key: "has_import_errors", value: (dag) => dag.hasImportErrors, for: "programs" },
  { key: "is_stale", value: (dag) => dag.isStale, for: "programs" },
  { key: "bundle_name", value: (dag) => dag.bundleName, for: "programs" },
  { key: "bundle_version", value: (dag) => dag.bundleVersion, for: "programs" },
];

interface Options extends OutputOption {
  readonly tag?: readonly string[];
  readonly all?: boolean;
}

export const list = (io: Io): Command =>
  addOutputOption(
    newCommand(io, "list", { about: "List the DAGs.", examples: ["dags list", "dags list --tag billing -o json"] })
      .option("--tag <tag...>", "Only those with one of these tags.")
      .option("--all", "Also those whose file is gone."),
  ).action(async (options: Options) => {
    const page = await withDatabase(io, async ({ db }) => {
      const { listDags } = await import("@millrace/shared/db");
      return await listDags(db, { tags: options.tag, excludeStale: options.all !== true });
    });
    await printList(io, options.output, COLUMNS, page.items);
  });
