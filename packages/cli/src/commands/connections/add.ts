import { AppError } from "@millrace/shared/errors";
import type { Connection } from "@millrace/shared/secrets";
import type { Command } from "commander";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { withSecrets } from "../../open-secrets.ts";

interface Options {
  readonly connUri?: string;
  readonly connJson?: string;
  readonly connType?: string;
  readonly connDescription?: string;
  readonly connHost?: string;
  readonly connLogin?: string;
  readonly connPassword?: string;
  readonly connSchema?: string;
  readonly connPort?: string;
  readonly connExtra?: string;
}

export const add = (io: Io): Command =>
  newCommand(io, "add", {
    about: "Add a connection: as a URI, as JSON, or part by part.",
    examples: [
      "connections add dwh --conn-uri 'postgres://ada:p%40ss@db.example:5432/sales'",
      `connections add api --conn-json '{"conn_type": "http", "host": "api.example"}'`,
      "connections add dwh --conn-type postgres --conn-host db.example --conn-login ada --conn-password secret",
    ],
  })
    .argument("<conn-id>", "Its id.")
    .option("--conn-uri <uri>", "type://login:password@host:port/schema?extra, every part percent-encoded.")
    .option("--conn-json <json>", "An object with conn_type, host, login, password, schema, port, extra, description.")
    .option("--conn-type <type>", "postgres, http, redis, aws, …")
    .option("--conn-description <text>", "What it is for.")
    .option("--conn-host <host>", "Host.")
    .option("--conn-login <login>", "Login.")
    .option("--conn-password <password>", "Password.")
    .option("--conn-schema <schema>", "Schema, database or path.")
    .option("--conn-port <port>", "Port.")
    .option("--conn-extra <json>", "A JSON object of whatever else it needs.")
    .action(async (connectionId: string, options: Options) => {
      const connection = await read(connectionId, options);
      await withSecrets(io, async ({ secrets }) => await secrets.stored.setConnection(connection, "add"));
      io.out(`${connectionId} is added\n`);
    });

async function read(connectionId: string, options: Options): Promise<Connection> {
  const { connectionFromObject, readConnection } = await import("@millrace/shared/secrets");
  const { connUri, connJson, connType, connDescription: description } = options;
  if ([connUri, connJson, connType].filter((given) => given !== undefined).length !== 1) {
    throw new AppError("CONNECTION_INVALID", {
      connectionId,
      cause: "give one of --conn-uri, --conn-json and --conn-type",
    });
  }
  const text = connUri ?? connJson;
  if (text === undefined) {
    const { connHost: host, connLogin: login, connPassword: password, connSchema: schema } = options;
    const { connPort: port, connExtra: extra } = options;
    const given = { conn_type: connType, description, host, login, password, schema, port, extra };
    return connectionFromObject(connectionId, given);
  }
  return { ...readConnection(connectionId, text), ...(description === undefined ? {} : { description }) };
}
