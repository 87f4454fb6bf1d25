import { decodeValue, encodeValue } from "../values/codec.ts";
import type { RunHost, RunRequest, XComKey } from "./protocol.ts";
import { NotFound, type TaskClient, type XComQuery } from "./task-client.ts";

/** The longest key that the xcom table takes, as in Airflow. */
const MAX_KEY = 512;

/**
 * A client that asks the host.
 *
 * @param assertRunning throws when the handler is done
 */
export function createClient(request: RunRequest, host: RunHost, assertRunning: (asked: string) => void): TaskClient {
  const client: TaskClient = {
    async getVariable(key) {
      assertRunning("getVariable()");
      return host.getVariable(key);
    },
    async getVariableOrThrow(key) {
      const value = await client.getVariable(key);
      if (value === undefined) throw new NotFound(`there is no variable "${key}"`);
      return value;
    },
    async setVariable(key, value, description) {
      assertRunning("setVariable()");
      if (typeof value !== "string") {
        throw new TypeError(`variable "${key}" must be a string, got ${typeof value}: use JSON.stringify for data`);
      }
      await (description === undefined ? host.setVariable(key, value) : host.setVariable(key, value, description));
    },
    async deleteVariable(key) {
      assertRunning("deleteVariable()");
      await host.deleteVariable(key);
    },
    async getXCom<T>(query: XComQuery) {
      assertRunning("getXCom()");
      const stored = await host.getXCom(xcomKey(request, query));
      return (stored === undefined ? undefined : decodeValue(stored)) as T | undefined; // the caller's claim, as documented
    },
    async setXCom(entry) {
      assertRunning("setXCom()");
      await host.setXCom({ ...xcomKey(request, entry), value: encodeValue(entry.value, request.maxXComBytes) });
    },
    async getConnection(connectionId) {
      assertRunning("getConnection()");
      return host.getConnection(connectionId);
    },
    async getConnectionOrThrow(connectionId) {
      const connection = await client.getConnection(connectionId);
      if (connection === undefined) throw new NotFound(`there is no connection "${connectionId}"`);
      return connection;
    },
  };
  return client;
}

function xcomKey(request: RunRequest, query: XComQuery): XComKey {
  const { key = "return_value", dagId = request.dagId, runId = request.runId, taskId = request.taskId } = query;
  if (key.length === 0 || key.length > MAX_KEY) {
    throw new RangeError(`the key of an XCom has 1 to ${MAX_KEY} characters, got ${key.length}`);
  }
  const isOwn = dagId === request.dagId && taskId === request.taskId;
  return { key, dagId, runId, taskId, mapIndex: query.mapIndex ?? (isOwn ? request.mapIndex : -1) };
}
