import type { Command } from "commander";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { Ended } from "../../io/report-error.ts";
import { withSecrets } from "../../open-secrets.ts";

export const rotateKey = (io: Io): Command =>
  newCommand(io, "rotate-key", {
    about:
      "Encrypt every variable and connection, and what waiting tasks gave their triggers, anew with the first key of core.encryption_key.",
    examples: ["secrets rotate-key"],
  })
    .addHelpText(
      "after",
      "\nPut the new key before the old one (MILLRACE__CORE__ENCRYPTION_KEY=new,old) and start the processes anew;\nrun this; then take the old key away. It can be stopped and run again.\n",
    )
    .action(async () => {
      const { rotated, current, unreadable } = await withSecrets(io, async ({ db, secrets }) => {
        const { rotateSecrets } = await import("@millrace/shared/secrets");
        return await rotateSecrets(db, secrets.cipher);
      });
      io.out(`${rotated} encrypted anew, ${current} were already\n`);
      for (const { what, cause } of unreadable) io.note(`${what} was left as it is: ${cause}`);
      if (unreadable.length > 0) throw new Ended(1);
    });
