import type { Command } from "commander";
import { withDatabase } from "../../actions.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";

const SQL = `
insert into variable (key, val, description) values ($1, $2, $3)
on conflict (key) do update set val = excluded.val, is_encrypted = false,
  description = coalesce(excluded.description, variable.description)`;

export const set = (io: Io): Command =>
  newCommand(io, "set", { about: "Create a variable or change it.", examples: ["variables set region eu"] })
    .argument("<key>", "Name of the variable.")
    .argument("<value>", "Its value, a text.")
    .option("--description <text>", "What it is for.")
    .action(async (key: string, value: string, options: { readonly description?: string }) => {
      await withDatabase(io, async ({ db }) => {
        await db.read(SQL, [key, value, options.description ?? null]);
      });
      io.out(`${key} is set\n`);
    });
