import { Option, type Command } from "commander";
import { wholeNumber } from "../../io/arguments.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { withMasked } from "../../open-secrets.ts";
import { addOutputOption, printList, type OutputOption } from "../../output/format.ts";
import { BACKFILL_COLUMNS } from "./columns.ts";

interface Options extends OutputOption {
  readonly dagId?: string;
  readonly active?: boolean;
  readonly limit: number;
}

export const list = (io: Io): Command =>
  addOutputOption(
    newCommand(io, "list", {
      about: "List backfills and how far they are, newest first.",
      examples: ["backfill list", "backfill list --dag-id report --active -o json"],
    })
      .option("--dag-id <dag>", "Only those of this DAG.")
      .addOption(new Option("--active", "Only those that are not over."))
      .option("--limit <n>", "At most so many.", wholeNumber(1), 25),
  ).action(async (options: Options) => {
    const page = await withMasked(io, async ({ db, io: masked }) => {
      const { getDag, listBackfills } = await import("@millrace/shared/db");
      if (options.dagId !== undefined) await getDag(db, options.dagId);
      const found = await listBackfills(db, {
        dagId: options.dagId,
        isActive: options.active === true ? true : undefined,
        orderBy: ["-id"],
        limit: options.limit,
      });
      await printList(masked, options.output, BACKFILL_COLUMNS, found.items);
      return found;
    });
    if (page.totalEntries > page.items.length) {
      io.note(`${page.items.length} of ${page.totalEntries} backfills; see --limit`);
    }
  });
