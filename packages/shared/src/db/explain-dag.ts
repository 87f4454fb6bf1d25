// "Why does this DAG not run?": reads one consistent snapshot of a DAG, of the assets that it waits for and of who updates
// them, and lets the decider say. Changes nothing and locks nothing.
import type { AssetUseSpec, ScheduleSpec } from "@millrace/sdk/spec";
import type { Config } from "../config/index.ts";
import { AppError } from "../errors/index.ts";
import { earliestOf, explainDag as dagConditions, usesIn, type Condition, type DagSituation } from "../model/index.ts";
import type { Database, Queryable } from "./database.ts";
import type { DagVersions } from "./dag-versions.ts";
import { readPendingPartitions } from "./statements/asset-partitions.ts";
import { explainAssets } from "./statements/explain-assets.ts";
import { explainDagRow } from "./statements/explain-dag.ts";

export interface DagExplanation {
  readonly dagId: string;
  readonly isPaused: boolean;
  readonly conditions: readonly Condition[];
  /** Not before this moment, as far as the clock decides. */
  readonly earliest: Date | null;
}

const KEYS_SHOWN = 50;

/** @throws AppError DAG_NOT_FOUND. */
export async function explainDag(
  db: Database,
  versions: DagVersions,
  config: Config,
  dagId: string,
): Promise<DagExplanation> {
  return await db.transaction(
    async (tx) => {
      const [row] = await tx.run(explainDagRow, [dagId, config.scheduler.scheduler_health_check_threshold]);
      const versionId = row?.versionId ?? "";
      const graph = versionId === "" ? undefined : (await versions.load([versionId], tx)).get(versionId);
      if (row === undefined || graph === undefined) throw new AppError("DAG_NOT_FOUND", { dagId });
      const { schedule } = graph.spec;
      const conditions = dagConditions({
        ...row,
        now: row.now.getTime(),
        nextRunAt: row.nextRunAt?.getTime() ?? null,
        schedulers: { live: row.liveSchedulers, lastSeen: row.lastScheduler?.getTime() ?? null },
        schedule,
        assets: await readAssets(tx, dagId, schedule),
        keys: await readKeys(tx, dagId, schedule),
      });
      const earliest = earliestOf(conditions);
      return { dagId, isPaused: row.isPaused, conditions, earliest: earliest === null ? null : new Date(earliest) };
    },
    { snapshot: true },
  );
}

async function readAssets(tx: Queryable, dagId: string, schedule: ScheduleSpec): Promise<DagSituation["assets"]> {
  if (schedule.kind !== "assets" && schedule.kind !== "assetOrTime") return [];
  const uses = usesIn(schedule.assets);
  const named = (use: AssetUseSpec) => ("asset" in use ? use.asset : "ref" in use ? use.ref : {});
  const found = await tx.run(explainAssets, [
    dagId,
    uses.map((use) => named(use).name ?? null),
    uses.map((use) => named(use).uri ?? null),
    uses.map((use) => ("alias" in use ? use.alias.name : null)),
  ]);
  return found.map((asset) => ({
    ...asset,
    since: asset.since?.getTime() ?? null,
    lastEvent: asset.lastEvent === null ? null : { ...asset.lastEvent, at: Date.parse(asset.lastEvent.at) },
  }));
}

async function readKeys(tx: Queryable, dagId: string, schedule: ScheduleSpec): Promise<DagSituation["keys"]> {
  if (schedule.kind !== "assets" || schedule.partition === undefined) return [];
  const pending = await tx.run(readPendingPartitions, [[dagId]]);
  return pending
    .slice(0, KEYS_SHOWN)
    .map(({ key, since, assets }) => ({ key, since: since.getTime(), present: assets ?? [] }));
}
