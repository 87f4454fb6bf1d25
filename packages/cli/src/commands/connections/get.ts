import { AppError } from "@millrace/shared/errors";
import type { Connection } from "@millrace/shared/secrets";
import type { Command } from "commander";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { withSecrets } from "../../open-secrets.ts";
import { addOutputOption, printList, type OutputOption } from "../../output/format.ts";
import { columns } from "./columns.ts";

interface Options extends OutputOption {
  readonly showValues?: boolean;
}

export const get = (io: Io): Command =>
  addOutputOption(
    newCommand(io, "get", {
      about: "Show a connection as a task sees it: the environment first, then files, then the database.",
      examples: ["connections get dwh", "connections get dwh --show-values"],
    })
      .argument("<conn-id>", "Its id.")
      .option("--show-values", "Its password and extra, too."),
  ).action(async (connectionId: string, options: Options) => {
    const found = await withSecrets(io, async ({ secrets }) => await secrets.getConnection(connectionId));
    if (found === undefined) {
      throw new AppError("CONNECTION_NOT_FOUND", { connectionId, name: connectionId.toUpperCase() });
    }
    await printList<Connection>(io, options.output, columns(options.showValues === true), [found]);
  });
