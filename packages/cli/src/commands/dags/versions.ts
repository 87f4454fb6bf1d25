import type { VersionRow } from "@millrace/shared/db";
import type { Command } from "commander";
import { withDatabase } from "../../actions.ts";
import { wholeNumber } from "../../io/arguments.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { addOutputOption, printList, type Column, type OutputOption } from "../../output/format.ts";

const COLUMNS: readonly Column<VersionRow>[] = [
  { key: "version", value: (version) => version.versionNumber },
  { key: "created_at", value: (version) => version.createdAt },
  { key: "commit", value: (version) => version.bundleVersion },
  { key: "artifact", value: (version) => version.artifactHash, shown: (version) => version.artifactHash.slice(0, 12) },
  { key: "id", value: (version) => version.id, for: "programs" },
];

interface Options extends OutputOption {
  readonly limit: number;
}

export const versions = (io: Io): Command =>
  addOutputOption(
    newCommand(io, "versions", {
      about: "List the versions of a DAG, newest first, with the commit that each came with if its file is in git.",
      examples: ["dags versions hello", "dags versions hello -o json"],
    })
      .argument("<dag>", "Id of the DAG.")
      .option("--limit <n>", "At most so many.", wholeNumber(1), 25),
  ).action(async (dagId: string, options: Options) => {
    const page = await withDatabase(io, async ({ db }) => {
      const reads = await import("@millrace/shared/db");
      await reads.getDag(db, dagId);
      return await reads.listVersions(db, dagId, { limit: options.limit });
    });
    await printList(io, options.output, COLUMNS, page.items);
    if (page.totalEntries > page.items.length) {
      io.note(`${page.items.length} of ${page.totalEntries} versions; see --limit`);
    }
  });
