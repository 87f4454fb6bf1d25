// `millrace.sql`: asks a database until the first value of the first row is true: not null, 0, "0", false or empty.
import type { Json } from "@millrace/sdk/spec";
import { ForeignDatabases } from "@millrace/shared/db";
import type { Secrets } from "@millrace/shared/secrets";
import { connectionOf } from "../connection.ts";
import type { SingleKind } from "../polls.ts";
import { GiveUp } from "../trigger.ts";

interface Wait {
  readonly connectionId: string;
  readonly sql: string;
  readonly params: readonly Json[];
}

const AT_ONCE = 20;
const PER_CONNECTION = 2;
const STATEMENT_TIMEOUT_MS = 30_000;

export function sql(secrets: Secrets): SingleKind<Wait> {
  const databases = new ForeignDatabases({ maxConnections: PER_CONNECTION, statementTimeoutMs: STATEMENT_TIMEOUT_MS });
  return {
    name: "millrace.sql",
    atOnce: AT_ONCE,
    read: (kwargs) => {
      const params = kwargs.json("params") ?? [];
      if (!Array.isArray(params)) kwargs.wrong("params", "a list");
      const wait = { connectionId: kwargs.text("connectionId"), sql: kwargs.text("sql"), params: params as Json[] };
      return { wait, pollMs: kwargs.pollMs(60) };
    },
    look: async ({ connectionId, sql: text, params }) => {
      const connection = await connectionOf(secrets, connectionId);
      if (connection.connType !== "postgres") {
        throw new GiveUp(
          "ConnectionNotSupported",
          `connection ${connectionId} is ${connection.connType}, not postgres`,
        );
      }
      const asked = await databases.ask(connection, text, params);
      if ("refused" in asked) throw new GiveUp("QueryRefused", asked.refused);
      const row = asked.rows[0];
      return isTrue(row) ? { kind: "event", payload: { row: JSON.parse(JSON.stringify(row)) as Json } } : undefined;
    },
    stop: () => databases.close(),
  };
}

function isTrue(row: Readonly<Record<string, unknown>> | undefined): row is Readonly<Record<string, unknown>> {
  const [first] = Object.values(row ?? {});
  return !(first === undefined || first === null || first === 0 || first === false || first === "" || first === "0");
}
