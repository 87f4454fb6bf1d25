import { AppError } from "@millrace/shared/errors";
import type { Command } from "commander";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { withSecrets } from "../../open-secrets.ts";

interface Options {
  readonly description?: string;
  readonly json?: boolean;
}

export const set = (io: Io): Command =>
  newCommand(io, "set", {
    about: "Create a variable or change it.",
    examples: ["variables set region eu", `variables set limits '{"rows": 10}' --json`],
  })
    .argument("<key>", "Name of the variable.")
    .argument("<value>", "Its value, a text.")
    .option("--description <text>", "What it is for.")
    .option("-j, --json", "Refuse a value that is not JSON.")
    .action(async (key: string, value: string, options: Options) => {
      if (options.json === true) requireJson(key, value);
      const hiddenBy = await withSecrets(io, async ({ secrets }) => {
        await secrets.stored.setVariable(key, value, options.description);
        return await secrets.hiddenBy(key);
      });
      io.out(`${key} is set\n`);
      if (hiddenBy !== undefined)
        io.note(`tasks do not see this value: ${hiddenBy} has a variable ${key} and is asked first`);
    });

function requireJson(key: string, value: string): void {
  try {
    JSON.parse(value);
  } catch {
    throw new AppError("VARIABLE_INVALID", { key, cause: "the value is not JSON" });
  }
}
