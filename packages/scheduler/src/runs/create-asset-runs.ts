// Creates the runs that assets ask for. Whoever has the dag row consumes what waits for it: the queue rows go, the run
// and its events come, in one transaction. So each event is in one run of each consumer, with any number of schedulers
// and wherever one of them dies. A dag without room for a run keeps what waits, and its next run gets all of it.
import { randomBytes } from "node:crypto";
import {
  consumeAssetEvents,
  createRuns,
  lockAssetDags,
  lockAssetQueue,
  readAssetQueue,
  type AssetDag,
  type QueuedAsset,
} from "@millrace/shared/db";
import { assetRunId, isConditionMet, type DagGraph } from "@millrace/shared/model";
import type { ActorDeps } from "../deps.ts";

export interface CreatedAssetRuns {
  readonly created: number;
  /** Something is ready and its DAG has no room, or another scheduler has it: to be looked at when runs have ended. */
  readonly waiting: boolean;
}

export const NO_ASSET_RUNS: CreatedAssetRuns = { created: 0, waiting: false };

/** How many dags one transaction looks at. */
const AT_ONCE = 200;

export async function createAssetRuns(deps: ActorDeps): Promise<CreatedAssetRuns> {
  // Without locks: most of what is queued waits for more to come.
  const ready = [...(await metConditions(deps, await deps.tx.run(readAssetQueue, []))).keys()];
  if (ready.length === 0) return NO_ASSET_RUNS;
  const locked = await deps.tx.run(lockAssetDags, [ready, AT_ONCE]);
  const dags = locked.filter((dag) => dag.room > 0);
  if (dags.length === 0) return { created: 0, waiting: true };
  // What was seen without locks may have been consumed since.
  const queue = await deps.tx.run(lockAssetQueue, [dags.map((dag) => dag.dagId)]);
  const met = await metConditions(deps, queue);
  const plans = dags.flatMap((dag) => {
    const found = met.get(dag.dagId);
    return found === undefined ? [] : [{ ...found, run: assetRun(dag, found.graph) }];
  });
  const created = await createRuns(
    deps.tx,
    plans.map(({ run }) => run),
  );
  const rows = plans.flatMap(({ run, rows: waiting }) => {
    const made = created.find(({ dagId, runId }) => dagId === run.graph.spec.dagId && runId === run.runId);
    return made === undefined ? [] : waiting.map((row) => ({ dagRunId: made.id, ...row }));
  });
  if (rows.length > 0) {
    await deps.tx.run(consumeAssetEvents, [
      rows.map((row) => row.dagRunId),
      rows.map((row) => row.dagId),
      rows.map((row) => row.assetId),
    ]);
  }
  return { created: created.length, waiting: dags.length < ready.length };
}

interface Met {
  readonly graph: DagGraph;
  readonly rows: readonly QueuedAsset[];
}

/** By DAG: what waits for those whose condition is met. */
async function metConditions(deps: ActorDeps, queue: readonly QueuedAsset[]): Promise<ReadonlyMap<string, Met>> {
  const byDag = new Map<string, QueuedAsset[]>();
  for (const row of queue) byDag.set(row.dagId, [...(byDag.get(row.dagId) ?? []), row]);
  const graphs = await deps.versions.load(
    queue.map((row) => row.versionId),
    deps.tx,
  );
  const met = new Map<string, Met>();
  for (const [dagId, rows] of byDag) {
    const graph = graphs.get(rows[0]?.versionId ?? "");
    const schedule = graph?.spec.schedule;
    if (graph === undefined || (schedule?.kind !== "assets" && schedule?.kind !== "assetOrTime")) continue;
    if (isConditionMet(schedule.assets, rows)) met.set(dagId, { graph, rows });
  }
  return met;
}

const assetRun = (dag: AssetDag, graph: DagGraph) => ({
  graph,
  versionId: dag.versionId,
  runId: assetRunId(dag.now.getTime(), randomBytes(4).toString("hex")),
  runType: "asset_triggered" as const,
  logicalDate: null,
  interval: null,
  runAfter: dag.now.getTime(),
  conf: {},
  triggeredBy: "asset" as const,
  user: null,
});
