import { extname } from "node:path";
import type { Connection } from "@millrace/shared/secrets";
import { Option, type Command } from "commander";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { withSecrets } from "../../open-secrets.ts";
import { writeSecretFile } from "../../output/write-secret-file.ts";

const FORMATS = ["json", "yaml", "env"] as const;
type Format = (typeof FORMATS)[number];

interface Options {
  readonly fileFormat?: Format;
  readonly serializationFormat: "uri" | "json";
}

export const exportConnections = (io: Io): Command =>
  newCommand(io, "export", {
    about: "Write the connections of the database to a file, in plain text that `import` reads.",
    examples: ["connections export connections.json", "connections export - --file-format env"],
  })
    .argument("<file>", "The file, readable by you alone; - prints it.")
    .addOption(new Option("--file-format <format>", "Default: what the file's name says, else json.").choices(FORMATS))
    .addOption(
      new Option("--serialization-format <form>", "How an .env file holds each.")
        .choices(["uri", "json"])
        .default("uri"),
    )
    .action(async (file: string, options: Options) => {
      const rows = await withSecrets(io, async ({ secrets }) => await secrets.stored.listConnections());
      const readable = rows.filter((row) => row.problem === undefined);
      const format = options.fileFormat ?? FORMATS.find((one) => extname(file) === `.${one}`) ?? "json";
      await writeSecretFile(io, file, await textOf(readable, format, options.serializationFormat));
      io.note(`${readable.length} of ${rows.length} connections were exported`);
      for (const { problem } of rows) if (problem !== undefined) io.note(problem);
    });

async function textOf(connections: readonly Connection[], format: Format, form: "uri" | "json"): Promise<string> {
  const { connectionToObject, connectionToUri } = await import("@millrace/shared/secrets");
  if (format === "env") {
    const lines = connections.map((connection) => {
      const value = form === "uri" ? connectionToUri(connection) : JSON.stringify(connectionToObject(connection));
      return `${connection.connectionId}=${value}\n`;
    });
    return lines.join("");
  }
  const entries = connections.map((connection) => {
    const { connectionId } = connection;
    return [connectionId, connectionToObject(connection)] as const;
  });
  if (format === "json") return `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n`;
  // JSON is YAML: each connection on a line of its own.
  return entries.map(([id, fields]) => `${JSON.stringify(id)}: ${JSON.stringify(fields)}\n`).join("");
}
