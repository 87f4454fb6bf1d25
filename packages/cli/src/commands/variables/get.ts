import { variableFromEnvironment } from "@millrace/shared/config";
import { AppError } from "@millrace/shared/errors";
import type { Command } from "commander";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { withSecrets } from "../../open-secrets.ts";

interface Options {
  readonly default?: string;
  readonly json?: boolean;
}

export const get = (io: Io): Command =>
  newCommand(io, "get", {
    about: "Print a variable as a task sees it: the environment first, then files, then the database.",
    examples: ["variables get region", "variables get region -d eu", "variables get limits --json"],
  })
    .argument("<key>", "Name of the variable.")
    .option("-d, --default <value>", "What to print when there is none.")
    .option("-j, --json", "It is JSON: print it laid out.")
    .action(async (key: string, options: Options) => {
      const found =
        variableFromEnvironment(key, io.env) ??
        (await withSecrets(io, async ({ secrets }) => await secrets.getVariable(key))) ??
        options.default;
      if (found === undefined) throw new AppError("VARIABLE_NOT_FOUND", { key });
      io.out(`${options.json === true ? laidOut(key, found) : found}\n`);
    });

function laidOut(key: string, text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    throw new AppError("VARIABLE_INVALID", { key, cause: "it is not JSON" });
  }
}
