import { decodeValue, encodeValue } from "../values/codec.ts";
import { present } from "../reading/present.ts";
import { eventOf, queryOf } from "./asset-events.ts";
import type { ConnectionValue, RunHost, RunRequest, XComKey } from "./protocol.ts";
import { NotFound, type NamedConnection, type TaskClient, type XComQuery } from "./task-client.ts";

/** The longest key that the xcom table takes, as in Airflow. */
const MAX_KEY = 512;
const MAX_EVENTS = 1_000;

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
      const key = xcomKey(request, entry);
      // Refused by the worker as well; here, a test run says so too.
      const { dagId, runId, taskId, mapIndex } = request;
      if (key.dagId !== dagId || key.runId !== runId || key.taskId !== taskId || key.mapIndex !== mapIndex) {
        throw new Error(`a task sets XComs of its own only, not of ${key.dagId}.${key.taskId} in run ${key.runId}`);
      }
      const value = encodeValue(entry.value, request.maxStoredXComBytes ?? request.maxXComBytes);
      await host.setXCom({ ...key, value });
    },
    async getConnection(connectionId) {
      assertRunning("getConnection()");
      const found = await host.getConnection(connectionId);
      return found === undefined ? undefined : withAirflowNames(found);
    },
    async getConnectionOrThrow(connectionId) {
      const connection = await client.getConnection(connectionId);
      if (connection === undefined) throw new NotFound(`there is no connection "${connectionId}"`);
      return connection;
    },
    async getAssetEvents(which, { after, before, limit = 100, ascending = true } = {}) {
      assertRunning("getAssetEvents()");
      if (!Number.isInteger(limit) || limit < 1 || limit > MAX_EVENTS) {
        throw new RangeError(`limit must be an integer of 1 to ${MAX_EVENTS}, got ${limit}`);
      }
      const times = present({ after: after?.toISOString(), before: before?.toISOString() });
      const data = await supported(host.getAssetEvents)({ ...queryOf(which), ...times, limit, ascending });
      return data.map(eventOf);
    },
    assetStateStore: {
      forAsset: (asset) => {
        const which = queryOf(asset);
        return {
          async get<T>(key: string) {
            assertRunning("assetStateStore.get()");
            const stored = await supported(host.getAssetState)(which, checkedKey(key));
            return (stored === undefined ? undefined : decodeValue(stored)) as T | undefined; // as documented
          },
          async set(key, value) {
            assertRunning("assetStateStore.set()");
            await supported(host.setAssetState)(which, checkedKey(key), encodeValue(value, request.maxXComBytes));
          },
          async delete(key) {
            assertRunning("assetStateStore.delete()");
            await supported(host.deleteAssetState)(which, checkedKey(key));
          },
        };
      },
    },
  };
  return client;
}

/** Airflow's SDK calls them so. Not enumerable: a copy is the data that it was. */
const withAirflowNames = (found: ConnectionValue): NamedConnection =>
  Object.defineProperties(
    { ...found },
    { id: { value: found.connectionId }, type: { value: found.connType } },
  ) as NamedConnection; // with those that were just defined

/** Not every process that runs handlers has assets at hand. */
function supported<F>(method: F | undefined): F {
  if (method === undefined) throw new Error("assets are not at hand here: a task that a worker runs has them");
  return method;
}

function checkedKey(key: string): string {
  if (typeof key !== "string" || key.length === 0 || key.length > MAX_KEY || key.includes("\0")) {
    throw new RangeError(`the key of a state has 1 to ${MAX_KEY} characters`);
  }
  return key;
}

function xcomKey(request: RunRequest, query: XComQuery): XComKey {
  const { key = "return_value", dagId = request.dagId, runId = request.runId, taskId = request.taskId } = query;
  if (key.length === 0 || key.length > MAX_KEY) {
    throw new RangeError(`the key of an XCom has 1 to ${MAX_KEY} characters, got ${key.length}`);
  }
  const isOwn = dagId === request.dagId && taskId === request.taskId;
  return { key, dagId, runId, taskId, mapIndex: query.mapIndex ?? (isOwn ? request.mapIndex : -1) };
}
