// Creates the runs of DAGs that run by key: one for each key for which the assets have come. Under the lock of the dag row
// the keys of new events are mapped, and those that are complete become runs with their events.
import { randomBytes } from "node:crypto";
import {
  createRuns,
  dropPartitionKeys,
  fillPartitions,
  insertLog,
  lockAssetDags,
  putPartitionKeys,
  readOpenKeys,
  readPartitionDags,
  readPendingPartitions,
  type OpenKey,
  type PendingPartition,
} from "@millrace/shared/db";
import { messageOf } from "@millrace/shared/errors";
import { assetRunId, isConditionMet, runKeyOf, type DagGraph } from "@millrace/shared/model";
import type { ActorDeps } from "../deps.ts";
import { NO_ASSET_RUNS, type CreatedAssetRuns } from "./create-asset-runs.ts";

const DAGS_AT_ONCE = 200;
const KEYS_AT_ONCE = 1_000;

export async function createPartitionRuns(deps: ActorDeps): Promise<CreatedAssetRuns> {
  const waiting = await dagsToLookAt(deps);
  if (waiting.length === 0) return NO_ASSET_RUNS;
  const dags = await deps.tx.run(lockAssetDags, [waiting, DAGS_AT_ONCE]);
  const graphs = await deps.versions.load(
    dags.map((dag) => dag.versionId),
    deps.tx,
  );
  const dagIds = dags.map((dag) => dag.dagId);
  const graphOf = new Map(dags.flatMap((dag) => [[dag.dagId, graphs.get(dag.versionId)] as const]));
  const isMore = await mapOpenKeys(deps, dagIds, graphOf);
  const rooms = new Map(dags.map((dag) => [dag.dagId, dag.room]));
  let isFull = false;
  const plans = (await deps.tx.run(readPendingPartitions, [dagIds])).flatMap((pending) => {
    const { id, dagId, key } = pending;
    const [dag, graph] = [dags.find((one) => one.dagId === dagId), graphOf.get(dagId)];
    if (dag === undefined || graph === undefined || !isComplete(pending, graph)) return [];
    const room = rooms.get(dagId) ?? 0;
    if (room <= 0) {
      isFull = true;
      return [];
    }
    rooms.set(dagId, room - 1);
    return [{ id, run: partitionRun(graph, dag.versionId, dag.now.getTime(), key) }];
  });
  const created = await createRuns(
    deps.tx,
    plans.map(({ run }) => run),
  );
  const filled = plans.flatMap(({ id, run }) => {
    const made = created.find(({ dagId, runId }) => dagId === run.graph.spec.dagId && runId === run.runId);
    return made === undefined ? [] : [{ id, dagRunId: made.id }];
  });
  if (filled.length > 0) {
    await deps.tx.run(fillPartitions, [filled.map(({ id }) => id), filled.map(({ dagRunId }) => dagRunId)]);
  }
  return { created: created.length, waiting: isFull || isMore || dags.length < waiting.length };
}

/** Those for which something can be done: most keys only wait for more to come, and must not use up what is locked at once. */
async function dagsToLookAt(deps: ActorDeps): Promise<string[]> {
  const dags = await deps.tx.run(readPartitionDags, []);
  if (dags.length === 0) return [];
  const graphs = await deps.versions.load(
    dags.map((dag) => dag.versionId),
    deps.tx,
  );
  const graphOf = new Map(dags.map((dag) => [dag.dagId, graphs.get(dag.versionId)]));
  const pending = await deps.tx.run(readPendingPartitions, [dags.map((dag) => dag.dagId)]);
  const complete = new Set(pending.filter((one) => isComplete(one, graphOf.get(one.dagId))).map((one) => one.dagId));
  return dags.filter((dag) => dag.isOpen || complete.has(dag.dagId)).map((dag) => dag.dagId);
}

function isComplete({ assets }: PendingPartition, graph: DagGraph | undefined): boolean {
  const schedule = graph?.spec.schedule;
  return schedule?.kind === "assets" && isConditionMet(schedule.assets, assets ?? []);
}

/** A key that its mapper does not take starts nothing, and the audit log says so. */
async function mapOpenKeys(
  deps: ActorDeps,
  dagIds: readonly string[],
  graphs: ReadonlyMap<string, DagGraph | undefined>,
): Promise<boolean> {
  const open = await deps.tx.run(readOpenKeys, [dagIds, KEYS_AT_ONCE]);
  const mapped: (OpenKey & { readonly target: string })[] = [];
  const refused: (OpenKey & { readonly why: string })[] = [];
  for (const row of open) {
    const schedule = graphs.get(row.dagId)?.spec.schedule;
    try {
      if (schedule?.kind !== "assets" || schedule.partition === undefined)
        throw new Error("the DAG does not run by key");
      mapped.push({ ...row, target: runKeyOf(schedule.partition, row, row.key) });
    } catch (error) {
      refused.push({ ...row, why: messageOf(error) });
      deps.log.warn(
        { dag: row.dagId, asset: row.name, cause: messageOf(error) },
        "a partition key could not be mapped",
      );
    }
  }
  if (mapped.length > 0) {
    await deps.tx.run(putPartitionKeys, [
      mapped.map((row) => row.id),
      mapped.map((row) => row.dagId),
      mapped.map((row) => row.target),
    ]);
  }
  if (refused.length > 0) {
    await deps.tx.run(dropPartitionKeys, [refused.map((row) => row.id)]);
    const none = refused.map(() => null);
    await deps.tx.run(insertLog, [
      refused.map(() => "failed to map partition_key"),
      refused.map((row) => row.dagId),
      ...([none, none, none, none] as const),
      refused.map(() => "scheduler"),
      refused.map((row) => JSON.stringify({ asset: row.name, partition_key: row.key, cause: row.why })),
    ]);
  }
  return open.length === KEYS_AT_ONCE;
}

/** What of a key can stand in the id of a run. */
const shown = (key: string): string => key.replaceAll(/[^A-Za-z0-9_.~:+-]/g, "_").slice(0, 100);

const partitionRun = (graph: DagGraph, versionId: string, now: number, key: string) => ({
  graph,
  versionId,
  runId: assetRunId(now, `_${shown(key)}__${randomBytes(4).toString("hex")}`),
  runType: "asset_triggered" as const,
  logicalDate: null,
  interval: null,
  runAfter: now,
  conf: {},
  triggeredBy: "asset" as const,
  user: null,
  partitionKey: key,
});
