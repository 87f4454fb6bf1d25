// Keeps the watchers of assets in step with the DAGs that are scheduled on them: what a DAG that was unpaused, changed or
// is gone asks for comes and goes with the next look of any triggerer.
import type { AssetSpec } from "@millrace/sdk/spec";
import {
  addWatchers,
  dropWatchers,
  lockWatchers,
  readWatchers,
  readWatchingDags,
  type Database,
  type DagVersions,
  type WatcherRow,
} from "@millrace/shared/db";
import { usesIn } from "@millrace/shared/model";
import { openKept, sealKept, triggerPlace, type Cipher } from "@millrace/shared/secrets";

/** True when something changed. */
export async function syncWatchers(db: Database, versions: DagVersions, cipher: Cipher): Promise<boolean> {
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
  return await db.transaction(async (tx) => {
    await tx.run(lockWatchers, []);
    const text = JSON.stringify(sealed(wanted, await tx.run(readWatchers, []), cipher));
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

interface Wanted {
  readonly name: string;
  readonly watcher: string;
  readonly dag: string;
  readonly kwargs: string;
}

/** A ciphertext is another one each time: a watcher whose arguments did not change keeps the one that it has. */
function sealed<W extends Wanted>(wanted: readonly W[], watchers: readonly WatcherRow[], cipher: Cipher): W[] {
  const idOf = (asset: string, watcher: string, dag: string) => JSON.stringify([asset, watcher, dag]);
  const kept = new Map(watchers.map((one) => [idOf(one.assetName, one.name, one.dagId), one.kwargs]));
  return wanted.map((one) => {
    const place = triggerPlace(null, one.dag);
    const before = kept.get(idOf(one.name, one.watcher, one.dag));
    const isSame = before !== undefined && opensTo(cipher, before, place) === one.kwargs;
    return { ...one, kwargs: isSame ? before : sealKept(cipher, one.kwargs, place) };
  });
}

/** Undefined: no key of this process opens it. */
function opensTo(cipher: Cipher, stored: string, place: ReturnType<typeof triggerPlace>): string | undefined {
  try {
    return openKept(cipher, stored, place);
  } catch {
    return undefined;
  }
}
