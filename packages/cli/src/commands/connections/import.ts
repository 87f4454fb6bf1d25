import { resolve } from "node:path";
import type { Command } from "commander";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { withSecrets } from "../../open-secrets.ts";

export const importConnections = (io: Io): Command =>
  newCommand(io, "import", {
    about: "Read connections from a file: an object in .json or .yaml, or lines of an .env file.",
    examples: ["connections import connections.yaml", "connections import connections.json --overwrite"],
  })
    .argument("<file>", "The file. Each value is a URI, or an object in the JSON form.")
    .option("--overwrite", "Replace connections that exist. Without it they are left as they are.")
    .action(async (file: string, options: { readonly overwrite?: boolean }) => {
      const { connectionsOf, readSecretsFile } = await import("@millrace/shared/secrets");
      const given = [...connectionsOf(await readSecretsFile(resolve(io.cwd, file))).values()];
      const imported = await withSecrets(io, async ({ secrets }) => {
        const known = new Set((await secrets.stored.listConnections()).map((one) => one.connectionId));
        const wanted = options.overwrite === true ? given : given.filter((one) => !known.has(one.connectionId));
        for (const connection of wanted) await secrets.stored.setConnection(connection);
        for (const { connectionId } of given.filter((one) => !wanted.includes(one))) {
          io.note(`${connectionId} exists and was left as it is`);
        }
        return wanted.length;
      });
      io.out(`${imported} of ${given.length} connections were imported\n`);
    });
