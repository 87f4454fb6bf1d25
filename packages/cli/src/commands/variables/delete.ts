import { AppError } from "@millrace/shared/errors";
import type { Command } from "commander";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { withSecrets } from "../../open-secrets.ts";

export const deleteVariable = (io: Io): Command =>
  newCommand(io, "delete", { about: "Delete a variable.", examples: ["variables delete region"] })
    .argument("<key>", "Name of the variable.")
    .action(async (key: string) => {
      await withSecrets(io, async ({ secrets }) => {
        if (!(await secrets.stored.deleteVariable(key))) throw new AppError("VARIABLE_NOT_FOUND", { key });
      });
      io.out(`${key} is deleted\n`);
    });
