import { variableFromEnvironment } from "@millrace/shared/config";
import { AppError } from "@millrace/shared/errors";
import type { Command } from "commander";
import { withDatabase } from "../../actions.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";

export const get = (io: Io): Command =>
  newCommand(io, "get", {
    about: "Print a variable as a task sees it: the environment first, then the database.",
    examples: ["variables get region", "variables get region -d eu"],
  })
    .argument("<key>", "Name of the variable.")
    .option("-d, --default <value>", "What to print when there is none.")
    .action(async (key: string, options: { readonly default?: string }) => {
      const stored = async () =>
        await withDatabase(io, async ({ db }) => {
          const rows = await db.read<{ val: string }>("select val from variable where key = $1", [key]);
          return rows[0]?.val;
        });
      const value = variableFromEnvironment(key, io.env) ?? (await stored()) ?? options.default;
      if (value === undefined) throw new AppError("VARIABLE_NOT_FOUND", { key });
      io.out(`${value}\n`);
    });
