import type { StoredConnection } from "@millrace/shared/secrets";
import type { Command } from "commander";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { withSecrets } from "../../open-secrets.ts";
import { addOutputOption, printList, type Column, type OutputOption } from "../../output/format.ts";
import { columns } from "./columns.ts";

interface Options extends OutputOption {
  readonly showValues?: boolean;
  readonly hideSensitive?: boolean;
}

const ENCRYPTED: readonly Column<StoredConnection>[] = [
  { key: "is_encrypted", value: (row) => row.isEncrypted },
  { key: "is_extra_encrypted", value: (row) => row.isExtraEncrypted },
];

export const list = (io: Io): Command =>
  addOutputOption(
    newCommand(io, "list", {
      about: "List the connections of the database.",
      examples: ["connections list", "connections list --show-values -o json"],
    })
      .option("--show-values", "Their passwords and extras, too.")
      .option("--hide-sensitive", "With --show-values: secrets as ***, also those within extras."),
  ).action(async (options: Options) => {
    const rows = await withSecrets(io, async ({ secrets: { stored, redactor } }) => {
      const found = await stored.listConnections();
      if (options.hideSensitive !== true) return found;
      for (const connection of found) redactor.addConnection(connection);
      return found.map(({ password, extra, ...row }) => ({
        ...row,
        ...(password === undefined ? {} : { password: "***" }),
        ...(extra === undefined ? {} : { extra: redactor.redactValue(extra) as typeof extra }), // an object stays one
      }));
    });
    await printList(
      io,
      options.output,
      [...columns<StoredConnection>(options.showValues === true), ...ENCRYPTED],
      rows,
    );
    for (const { problem } of rows) if (problem !== undefined) io.note(problem);
  });
