import { AppError } from "@millrace/shared/errors";
import type { Command } from "commander";
import { withDatabase } from "../../actions.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";

export const deleteVariable = (io: Io): Command =>
  newCommand(io, "delete", { about: "Delete a variable.", examples: ["variables delete region"] })
    .argument("<key>", "Name of the variable.")
    .action(async (key: string) => {
      await withDatabase(io, async ({ db }) => {
        const gone = await db.read("delete from variable where key = $1 returning key", [key]);
        if (gone.length === 0) throw new AppError("VARIABLE_NOT_FOUND", { key });
      });
      io.out(`${key} is deleted\n`);
    });
