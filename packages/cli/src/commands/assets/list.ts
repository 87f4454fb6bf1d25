import type { Command } from "commander";
import { wholeNumber } from "../../io/arguments.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { withMasked } from "../../open-secrets.ts";
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
    const page = await withMasked(io, async ({ db, io: masked }) => {
      const { listAssets } = await import("@millrace/shared/db");
      const only = { onlyActive: options.all !== true, orderBy: ["name"], limit: options.limit } as const;
      const found = await listAssets(db, only);
      await printList(masked, options.output, ASSET_COLUMNS, found.items);
      return found;
    });
    if (page.totalEntries > page.items.length) {
      io.note(`${page.items.length} of ${page.totalEntries} assets; see --limit`);
    }
  });
