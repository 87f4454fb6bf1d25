import type { ConnectionValue } from "@millrace/sdk/runtime";
import type { Secrets } from "@millrace/shared/secrets";
import { GiveUp } from "./trigger.ts";

/** @throws GiveUp when there is none. */
export async function connectionOf(secrets: Secrets, connectionId: string): Promise<ConnectionValue> {
  const connection = await secrets.getConnection(connectionId);
  if (connection === undefined) {
    throw new GiveUp(
      "ConnectionNotFound",
      `there is no connection ${connectionId}: add it, or set MILLRACE_CONN_${connectionId.toUpperCase()} for the triggerer`,
    );
  }
  return connection;
}
