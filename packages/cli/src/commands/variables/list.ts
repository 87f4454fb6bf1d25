import type { Redactor, StoredVariable } from "@millrace/shared/secrets";
import type { Command } from "commander";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { withSecrets } from "../../open-secrets.ts";
import { addOutputOption, printList, type Column, type OutputOption } from "../../output/format.ts";

interface Options extends OutputOption {
  readonly showValues?: boolean;
  readonly hideSensitive?: boolean;
}

export const list = (io: Io): Command =>
  addOutputOption(
    newCommand(io, "list", {
      about: "List the variables of the database.",
      examples: ["variables list", "variables list --show-values --hide-sensitive"],
    })
      .option("--show-values", "Their values, too.")
      .option("--hide-sensitive", "With --show-values: secrets as ***."),
  ).action(async (options: Options) => {
    const rows = await withSecrets(io, async ({ secrets }) => {
      const found = await secrets.stored.listVariables();
      if (options.hideSensitive !== true) return found;
      const hide = ({ key, value }: StoredVariable) =>
        value === undefined ? value : hidden(secrets.redactor, key, value);
      return found.map((row) => ({ ...row, value: hide(row) }));
    });
    const columns: Column<StoredVariable>[] = [
      { key: "key", value: (row) => row.key },
      ...(options.showValues === true
        ? [
            {
              key: "value",
              value: (row: StoredVariable) => row.value,
              shown: (row: StoredVariable) => row.value ?? "(unreadable)",
            },
          ]
        : []),
      { key: "description", value: (row) => row.description },
      { key: "is_encrypted", value: (row) => row.isEncrypted },
    ];
    await printList(io, options.output, columns, rows);
    for (const { problem } of rows) if (problem !== undefined) io.note(problem);
  });

/** Whole under the name of a secret, else what is so named in its JSON. */
function hidden(redactor: Redactor, key: string, value: string): string {
  if (redactor.isSensitiveName(key)) return "***";
  redactor.addVariable(key, value);
  return redactor.redact(value);
}
