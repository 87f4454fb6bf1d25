import { AppError } from "@millrace/shared/errors";
import type { Command } from "commander";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { Ended } from "../../io/report-error.ts";
import { withSecrets } from "../../open-secrets.ts";

export const test = (io: Io): Command =>
  newCommand(io, "test", {
    about: "Try whether a connection works. Needs core.test_connection.",
    examples: ["connections test dwh"],
  })
    .argument("<conn-id>", "Its id.")
    .action(async (connectionId: string) => {
      const result = await withSecrets(io, async ({ config, secrets }) => {
        if (!config.core.test_connection) throw new AppError("CONNECTION_TEST_DISABLED");
        const connection = await secrets.getConnection(connectionId);
        if (connection === undefined) {
          throw new AppError("CONNECTION_NOT_FOUND", { connectionId, name: connectionId.toUpperCase() });
        }
        const { testConnection } = await import("@millrace/shared/secrets");
        return await testConnection(connection);
      });
      if (!result.works) {
        io.note(result.message);
        throw new Ended(1);
      }
      io.out(`${result.message}\n`);
    });
