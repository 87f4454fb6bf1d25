import type { ConnectionValue } from "@millrace/sdk/runtime";
import { connectionFromEnvironment } from "@millrace/shared/config";
import { GiveUp } from "./trigger.ts";

/** The one place where this process learns what a connection id stands for. */
export function findConnection(connectionId: string): Promise<ConnectionValue | undefined> {
  return Promise.resolve(connectionFromEnvironment(connectionId));
}

/** @throws GiveUp when there is none. */
export async function connectionOf(connectionId: string): Promise<ConnectionValue> {
  const connection = await findConnection(connectionId);
  if (connection === undefined) {
    throw new GiveUp(
      "ConnectionNotFound",
      `there is no connection ${connectionId}: set MILLRACE_CONN_${connectionId.toUpperCase()} for the triggerer`,
    );
  }
  return connection;
}
