// Tries whether a connection works: by the protocol of its type where we speak it, else whether its port answers. Reaches
// out to whatever address it is given, so it is off unless the installation allows it.
import { connect } from "node:net";
import { connectionTarget } from "@millrace/sdk/runtime";
import { ForeignDatabases } from "../db/foreign-databases.ts";
import { messageOf } from "../errors/index.ts";
import { pingRedis } from "../queue/ping-redis.ts";
import type { Connection } from "./connection-forms.ts";

export interface ConnectionTest {
  readonly works: boolean;
  /** For people, without secrets. */
  readonly message: string;
}

const TIMEOUT_MS = 10_000;

export async function testConnection(connection: Connection): Promise<ConnectionTest> {
  try {
    return { works: true, message: await attempt(connection) };
  } catch (error) {
    const { connectionId, password } = connection;
    const said = messageOf(error);
    const message = password === undefined || password === "" ? said : said.replaceAll(password, "***");
    return { works: false, message: `${connectionId} does not work: ${message}` };
  }
}

async function attempt(connection: Connection): Promise<string> {
  const { connType, host, port } = connection;
  switch (connType) {
    case "postgres":
      await askPostgres(connection);
      return "Postgres answers";
    case "redis":
    case "rediss":
    case "valkey":
      await pingRedis(connection, TIMEOUT_MS);
      return "Redis answers";
    case "http":
    case "https": {
      const { url, headers } = connectionTarget(connection);
      const answer = await fetch(url, { method: "HEAD", headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
      await answer.body?.cancel();
      if (answer.status === 401 || answer.status === 403) throw new Error(`the server answers ${answer.status}`);
      return `the server answers ${answer.status}`;
    }
    default:
      if (host === undefined || port === undefined) {
        throw new Error(`connections of the type ${connType} are tried by host and port, and it has not both`);
      }
      await reach(host, port);
      return `${host}:${port} can be reached; connections of the type ${connType} are not tried further`;
  }
}

async function askPostgres(connection: Connection): Promise<void> {
  const databases = new ForeignDatabases({ maxConnections: 1, statementTimeoutMs: TIMEOUT_MS });
  try {
    const answer = await databases.ask(connection, "select 1", []);
    if ("refused" in answer) throw new Error(answer.refused);
  } finally {
    await databases.close();
  }
}

async function reach(host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const socket = connect({ host, port, timeout: TIMEOUT_MS });
    const end = (settle: () => void) => {
      socket.destroy();
      settle();
    };
    socket.once("connect", () => end(resolve));
    socket.once("timeout", () => end(() => reject(new Error(`no answer within ${TIMEOUT_MS / 1000} s`))));
    socket.once("error", (error) => end(() => reject(error)));
  });
}
