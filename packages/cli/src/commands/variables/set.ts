import type { Command } from "commander";
import { withDatabase } from "../../actions.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";

export const set = (io: Io): Command =>
  newCommand(io, "set", { about: "Create a variable or change it.", examples: ["variables set region eu"] })
    .argument("<key>", "Name of the variable.")
    .argument("<value>", "Its value, a text.")
    .option("--description <text>", "What it is for.")
    .action(async (key: string, value: string, options: { readonly description?: string }) => {
      await withDatabase(io, async ({ db }) => {
        const { writeVariable } = await import("@millrace/shared/db");
        await db.run(writeVariable, [key, value, options.description ?? null]);
      });
      io.out(`${key} is set\n`);
    });
