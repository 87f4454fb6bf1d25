import type { Command } from "commander";
import { withDatabase } from "../../actions.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { addOutputOption, printList, type OutputOption } from "../../output/format.ts";
import { POOL_COLUMNS } from "./columns.ts";

export const get = (io: Io): Command =>
  addOutputOption(
    newCommand(io, "get", { about: "Show one pool.", examples: ["pools get default_pool"] }).argument(
      "<pool>",
      "Name of the pool.",
    ),
  ).action(async (name: string, options: OutputOption) => {
    const pool = await withDatabase(io, async ({ db }) => {
      const { getPool } = await import("@millrace/shared/db");
      return await getPool(db, name);
    });
    await printList(io, options.output, POOL_COLUMNS, [pool]);
  });
