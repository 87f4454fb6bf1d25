import type { Command } from "commander";
import { withDatabase } from "../../actions.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { UsageError } from "../../io/report-error.ts";

export const deletePool = (io: Io): Command =>
  newCommand(io, "delete", {
    about: "Delete a pool. Its waiting tasks wait until it is there again.",
    examples: ["pools delete gpu"],
  })
    .argument("<pool>", "Name of the pool.")
    .action(async (name: string) => {
      if (name === "default_pool")
        throw new UsageError("default_pool cannot be deleted: tasks that name no pool use it");
      await withDatabase(io, async ({ db }) => {
        const { getPool } = await import("@millrace/shared/db");
        await getPool(db, name);
        await db.read("delete from slot_pool where pool = $1", [name]);
      });
      io.out(`${name} is deleted\n`);
    });
