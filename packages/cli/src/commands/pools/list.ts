import type { Command } from "commander";
import { withDatabase } from "../../actions.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { addOutputOption, printList, type OutputOption } from "../../output/format.ts";
import { POOL_COLUMNS } from "./columns.ts";

export const list = (io: Io): Command =>
  addOutputOption(
    newCommand(io, "list", { about: "List the pools and their slots.", examples: ["pools list -o json"] }),
  ).action(async (options: OutputOption) => {
    const page = await withDatabase(io, async ({ db }) => {
      const { listPools } = await import("@millrace/shared/db");
      return await listPools(db, { orderBy: ["pool"] });
    });
    await printList(io, options.output, POOL_COLUMNS, page.items);
  });
