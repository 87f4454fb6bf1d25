// What a running handler asks for, answered from Postgres and the places of secrets. An attempt writes XComs of its
// own task instance only, and only while it is the current one; a callback writes none, since its attempt has ended.
import type { ConnectionValue } from "@millrace/sdk/runtime";
import type { Config } from "@millrace/shared/config";
import {
  deleteAssetState,
  getAssetState,
  missingExternals,
  readEventsFor,
  readMappedXComs,
  readPreviousSuccess,
  readXComs,
  runSql,
  setAssetState,
  triggerRunForTask,
  waitedExternalStates,
  writeXCom,
  type ClaimedAttempt,
  type Database,
  type DagVersions,
} from "@millrace/shared/db";
import { announce, type Broker } from "@millrace/shared/queue";
import type { Secrets } from "@millrace/shared/secrets";
import { bytesOf, type XComs } from "@millrace/shared/xcoms";
import type { Call, ToChild } from "./ipc.ts";
import type { Labels } from "./labels.ts";
import { storeRenderedFields } from "./store-rendered-fields.ts";

/** Values of a mapped task in one answer. */
const MAX_PAGE = 1_000;
const MAX_PAGE_BYTES = 64 * 1024 * 1024;

type Answer = Extract<ToChild, { type: "reply" }>["value"];

export interface AnswerDeps {
  readonly db: Database;
  /** Absent where nothing is started. */
  readonly broker?: Broker | undefined;
  readonly versions: DagVersions;
  readonly secrets: Secrets;
  readonly xcoms: XComs;
  readonly config: Pick<Config, "core">;
  /** Absent where nothing is mapped: for callbacks. */
  readonly labels?: Labels;
}

/**
 * @param attempt undefined for a callback
 * @param signal ends statements of `runSql` that still run
 */
export async function answerCall(
  deps: AnswerDeps,
  attempt: ClaimedAttempt | undefined,
  call: Call,
  signal?: AbortSignal,
): Promise<Answer> {
  const { db, broker, versions, secrets, xcoms, config, labels } = deps;
  switch (call.method) {
    case "getXCom": {
      const { dagId, runId, taskId, mapIndex, key } = call.params;
      const [row] = await db.run(readXComs, [[dagId], [runId], [taskId], [mapIndex], [key]]);
      return row === undefined ? undefined : await xcoms.resolve(row.value);
    }
    case "getMappedXComs": {
      const { dagId, runId, taskId, offset, limit } = call.params;
      const page = await db.run(readMappedXComs, [dagId, runId, taskId, offset, Math.min(limit, MAX_PAGE)]);
      const bytes = page.reduce((sum, { value }) => sum + bytesOf(value), 0);
      if (bytes > MAX_PAGE_BYTES)
        throw new Error(
          `${page.length} values of ${taskId} take ${bytes} bytes, and one read gives ${MAX_PAGE_BYTES}: return less, and hand on where the rest is`,
        );
      return await xcoms.resolveAll(page.map(({ value }) => value));
    }
    case "setXCom": {
      const { dagId, runId, taskId, mapIndex, key, value } = call.params;
      if (attempt === undefined)
        throw new Error("a callback sets no XComs: the attempt that they would be of has ended");
      const isOwn =
        dagId === attempt.dagId &&
        runId === attempt.runId &&
        taskId === attempt.taskId &&
        mapIndex === attempt.mapIndex;
      if (!isOwn) throw new Error(`a task sets XComs of its own only, not of ${dagId}.${taskId} in run ${runId}`);
      const held = await xcoms.keep(attempt, key, value);
      const [row] = await db.run(writeXCom, [attempt.id, attempt.epoch, key, held]);
      if (row === undefined) throw new Error(`XCom ${key} was not set: this attempt is no longer the current one`);
      return undefined;
    }
    case "getVariable":
      return await secrets.getVariable(call.params.key);
    case "setVariable":
      await secrets.setVariable(call.params.key, call.params.value, call.params.description);
      return undefined;
    case "deleteVariable":
      await secrets.stored.deleteVariable(call.params.key);
      return undefined;
    case "triggerDagRun": {
      if (attempt === undefined || broker === undefined)
        throw new Error("a callback starts no runs as a task does: use the API");
      const { dagRunIds, stopped, ...triggered } = await triggerRunForTask(db, versions, call.params, attempt);
      announce(broker, { dagRunIds, stopped });
      return triggered;
    }
    case "getAssetEvents":
      return (await readEventsFor(db, call.params)) as unknown as Answer; // JSON, as its type says
    case "getAssetState":
      return await getAssetState(db, call.params.asset, call.params.key);
    case "setAssetState":
      return await setAssetState(db, call.params.asset, call.params.key, call.params.value);
    case "deleteAssetState":
      return await deleteAssetState(db, call.params.asset, call.params.key);
    case "getRunState": {
      const { dagId, runId } = call.params;
      const asked = JSON.stringify([{ dagId, runIds: [runId], logicalDates: [] }]);
      return (await db.run(waitedExternalStates, [asked]))[0]?.state;
    }
    case "getExternalStates": {
      // The statements of the trigger that waits for the same: a poke and a deferral must not differ.
      const { runIds = [], logicalDates = [], checkExistence = false, ...watched } = call.params;
      const asked = JSON.stringify([{ ...watched, runIds, logicalDates }]);
      const [lacking] = checkExistence ? await db.run(missingExternals, [asked]) : [];
      if (lacking !== undefined) throw new Error(`there is no ${lacking.missing}`);
      return (await db.run(waitedExternalStates, [asked])).map(({ place: _place, ...state }) => state);
    }
    case "setMapIndexLabel":
      if (attempt !== undefined) await labels?.write(attempt, call.params.label);
      return undefined;
    case "setRenderedFields":
      if (attempt !== undefined)
        await storeRenderedFields(db, attempt, call.params.fields, { config, redactor: secrets.redactor });
      return undefined;
    case "getPreviousSuccess": {
      if (attempt === undefined || attempt.logicalDate === null) return undefined;
      const [found] = await db.run(readPreviousSuccess, [attempt.dagId, attempt.logicalDate]);
      const iso = (at: Date | null) => at?.toISOString() ?? null;
      return found === undefined
        ? undefined
        : {
            dataIntervalStart: iso(found.dataIntervalStart),
            dataIntervalEnd: iso(found.dataIntervalEnd),
            startDate: iso(found.startDate),
            endDate: iso(found.endDate),
          };
    }
    case "runSql": {
      const { connectionId } = call.params;
      const connection = await answerCall(deps, attempt, { method: "getConnection", params: { connectionId } });
      if (connection === undefined) throw new Error(`there is no connection "${connectionId}"`);
      // What getConnection answers.
      return await runSql(connection as ConnectionValue, call.params, { maxBytes: config.core.max_xcom_bytes, signal });
    }
    case "getConnection":
      return await secrets.getConnection(call.params.connectionId);
  }
}
