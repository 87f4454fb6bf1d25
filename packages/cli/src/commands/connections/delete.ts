import { AppError } from "@millrace/shared/errors";
import type { Command } from "commander";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { withSecrets } from "../../open-secrets.ts";

export const deleteConnection = (io: Io): Command =>
  newCommand(io, "delete", { about: "Delete a connection.", examples: ["connections delete dwh"] })
    .argument("<conn-id>", "Its id.")
    .action(async (connectionId: string) => {
      await withSecrets(io, async ({ secrets }) => {
        if (await secrets.stored.deleteConnection(connectionId)) return;
        throw new AppError("CONNECTION_NOT_FOUND", { connectionId, name: connectionId.toUpperCase() });
      });
      io.out(`${connectionId} is deleted\n`);
    });
