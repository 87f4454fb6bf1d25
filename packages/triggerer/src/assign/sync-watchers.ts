// Keeps the watchers of assets in step with the DAGs that are scheduled on them: what a DAG that was unpaused, changed or
// is gone asks for comes and goes with the next look of any triggerer.
import type { AssetSpec } from "@millrace/sdk/spec";
import {
  addWatchers,
  dropWatchers,
  lockWatchers,
  readWatchingDags,
  type Database,
  type DagVersions,
} from "@millrace/shared/db";
import { usesIn } from "@millrace/shared/model";

/** True when something changed. */
export async function syncWatchers(db: Database, versions: DagVersions): Promise<boolean> {
  const rows = await db.run(readWatchingDags, []);
  const dags = rows.flatMap(({ dagId, versionId, since }) =>
    dagId === null || versionId === null ? [] : [{ dagId, versionId, since }],
  );
  const graphs = await versions.load(dags.map((dag) => dag.versionId));
  const wanted = dags.flatMap(({ dagId, versionId, since }) => {
    const schedule = graphs.get(versionId)?.spec.schedule;
    const isOfAssets = schedule?.kind === "assets" || schedule?.kind === "assetOrTime";
    const assets = isOfAssets ? usesIn(schedule.assets) : [];
    return assets
      .flatMap((use) => ("asset" in use ? watchersOf(use.asset) : []))
      .map((one) => ({ ...one, dag: dagId, since }));
  });
  if (wanted.length === 0 && rows[0]?.isWatched !== true) return false;
  const text = JSON.stringify(wanted);
  return await db.transaction(async (tx) => {
    await tx.run(lockWatchers, []);
    const dropped = await tx.run(dropWatchers, [text]);
    const added = await tx.run(addWatchers, [text]);
    return dropped.length + added.length > 0;
  });
}

const watchersOf = ({ name, uri, watchers = [] }: AssetSpec) =>
  watchers.map(({ name: watcher, trigger }) => ({
    ...{ name, uri, watcher },
    classpath: trigger.name,
    kwargs: JSON.stringify(trigger.kwargs),
    queue: trigger.queue ?? null,
  }));
