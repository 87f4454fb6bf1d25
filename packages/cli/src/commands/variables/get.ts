import { variableFromEnvironment } from "@millrace/shared/config";
import { AppError } from "@millrace/shared/errors";
import type { Command } from "commander";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { withSecrets } from "../../open-secrets.ts";
import { configOf } from "../../process/config-of.ts";

interface Options {
  readonly default?: string;
  readonly json?: boolean;
}

export const get = (io: Io): Command =>
  newCommand(io, "get", {
    about: "Print a variable as a task sees it, from the first place of secrets.backends_order that has it.",
    examples: ["variables get region", "variables get region -d eu", "variables get limits --json"],
  })
    .argument("<key>", "Name of the variable.")
    .option("-d, --default <value>", "What to print when there is none.")
    .option("-j, --json", "It is JSON: print it laid out.")
    .action(async (key: string, options: Options) => {
      const found =
        fromEnvironmentAlone(io, key) ??
        (await withSecrets(io, async ({ secrets }) => await secrets.getVariable(key))) ??
        options.default;
      if (found === undefined) throw new AppError("VARIABLE_NOT_FOUND", { key });
      io.out(`${options.json === true ? laidOut(key, found) : found}\n`);
    });

/** Where the environment comes first nothing else has to be asked, least of all a database. */
function fromEnvironmentAlone(io: Io, key: string): string | undefined {
  const { backends_order: order, backend } = configOf(io, {}, []).secrets;
  const [first] = order.filter((place) => place !== "custom" || backend !== "");
  return first === "environment_variable" ? variableFromEnvironment(key, io.env) : undefined;
}

function laidOut(key: string, text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    throw new AppError("VARIABLE_INVALID", { key, cause: "it is not JSON" });
  }
}
