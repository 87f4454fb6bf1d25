import type { Command } from "commander";
import { withDatabase } from "../../actions.ts";
import { wholeNumber } from "../../io/arguments.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { addOutputOption, printList, type OutputOption } from "../../output/format.ts";
import { ASSET_COLUMNS } from "./columns.ts";

interface Options extends OutputOption {
  readonly all?: boolean;
  readonly limit: number;
}

export const list = (io: Io): Command =>
  addOutputOption(
    newCommand(io, "list", {
      about: "List the assets that DAGs declare.",
      examples: ["assets list", "assets list --all -o json"],
    })
      .option("--all", "Also those that no DAG declares any more.")
      .option("--limit <n>", "At most so many.", wholeNumber(1), 100),
  ).action(async (options: Options) => {
    const page = await withDatabase(io, async ({ db }) => {
      const { listAssets } = await import("@millrace/shared/db");
      return await listAssets(db, { onlyActive: options.all !== true, orderBy: ["name"], limit: options.limit });
    });
    await printList(io, options.output, ASSET_COLUMNS, page.items);
    if (page.totalEntries > page.items.length) {
      io.note(`${page.items.length} of ${page.totalEntries} assets; see --limit`);
    }
  });
