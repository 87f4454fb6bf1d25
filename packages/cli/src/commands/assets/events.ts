import type { Command } from "commander";
import { wholeNumber } from "../../io/arguments.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { withMasked } from "../../open-secrets.ts";
import { addOutputOption, printList, type OutputOption } from "../../output/format.ts";
import { EVENT_COLUMNS } from "./columns.ts";

interface Options extends OutputOption {
  readonly limit: number;
}

export const events = (io: Io): Command =>
  addOutputOption(
    newCommand(io, "events", {
      about: "List the events of an asset, or of all, newest first, with the runs that they are in.",
      examples: ["assets events", "assets events orders --limit 5 -o json"],
    })
      .argument("[asset]", "Its name, its uri or its id. Default: all.")
      .option("--limit <n>", "At most so many.", wholeNumber(1), 25),
  ).action(async (which: string | undefined, options: Options) => {
    const page = await withMasked(io, async ({ db, io: masked }) => {
      const { findAsset, listAssetEvents } = await import("@millrace/shared/db");
      const assetId = which === undefined ? undefined : (await findAsset(db, which)).id;
      const found = await listAssetEvents(db, { assetId, orderBy: ["-timestamp"], limit: options.limit });
      await printList(masked, options.output, EVENT_COLUMNS, found.items);
      return found;
    });
    if (page.totalEntries > page.items.length) {
      io.note(`${page.items.length} of ${page.totalEntries} events; see --limit`);
    }
  });
