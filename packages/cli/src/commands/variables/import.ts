import { resolve } from "node:path";
import { AppError } from "@millrace/shared/errors";
import { Option, type Command } from "commander";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { Ended } from "../../io/report-error.ts";
import { withSecrets } from "../../open-secrets.ts";

interface Options {
  readonly actionOnExistingKey: "overwrite" | "fail" | "skip";
}

export const importVariables = (io: Io): Command =>
  newCommand(io, "import", {
    about: "Read variables from a file: an object in .json or .yaml, or lines of an .env file.",
    examples: ["variables import variables.json", "variables import variables.yaml -a skip"],
  })
    .argument("<file>", "The file. Values that are no texts are stored as JSON; { value, description } has both.")
    .addOption(
      new Option("-a, --action-on-existing-key <action>", "What becomes of a variable that exists.")
        .choices(["overwrite", "fail", "skip"])
        .default("overwrite"),
    )
    .action(async (file: string, { actionOnExistingKey: action }: Options) => {
      const { describedVariablesOf, readSecretsFile } = await import("@millrace/shared/secrets");
      const variables = [...describedVariablesOf(await readSecretsFile(resolve(io.cwd, file)))];
      const done = await withSecrets(io, async ({ secrets }) => {
        const known = new Set((await secrets.stored.listVariables()).map(({ key }) => key));
        const existing = variables.filter(([key]) => known.has(key)).map(([key]) => key);
        const [first] = existing;
        if (action === "fail" && first !== undefined)
          throw new AppError("VARIABLE_EXISTS", { key: existing.join(", ") });
        const wanted = action === "skip" ? variables.filter(([key]) => !known.has(key)) : variables;
        const failed: string[] = [];
        for (const [key, { value, description }] of wanted) {
          try {
            await secrets.stored.setVariable(key, value, description);
          } catch (error) {
            if (!(error instanceof AppError)) throw error;
            failed.push(error.message);
          }
        }
        return { imported: wanted.length - failed.length, failed };
      });
      io.out(`${done.imported} of ${variables.length} variables were imported\n`);
      for (const failure of done.failed) io.note(failure);
      if (done.failed.length > 0) throw new Ended(1);
    });
