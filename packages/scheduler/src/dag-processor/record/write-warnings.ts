import type { DagSpec } from "@millrace/sdk/spec";
import {
  readAssetConflicts,
  readPools,
  replaceWarnings,
  TIMETABLE_ERROR,
  type Queryable,
  type RecordedDag,
} from "@millrace/shared/db";
import { assetWarnings } from "./asset-warnings.ts";
import { catchupWarnings } from "./catchup-warnings.ts";
import { poolsOf, poolWarnings } from "./pool-warnings.ts";
import { usesAssets } from "./record-assets.ts";

/** Writes the warnings of dags where they differ from those of `states`; false when none does. */
export async function writeWarnings(
  tx: Queryable,
  specs: readonly DagSpec[],
  states: ReadonlyMap<string, RecordedDag>,
): Promise<boolean> {
  const slots = new Map((await tx.run(readPools, [poolsOf(specs)])).map((pool) => [pool.pool, pool.slots]));
  const withAssets = specs.filter(usesAssets).map((spec) => spec.dagId);
  const conflicts = withAssets.length === 0 ? [] : await tx.run(readAssetConflicts, [withAssets]);
  const wanted = specs.map((spec) => {
    const own = conflicts.filter((conflict) => conflict.dagId === spec.dagId);
    const warnings = {
      ...poolWarnings(spec, slots),
      ...catchupWarnings(spec, states.get(spec.dagId)),
      ...assetWarnings(own),
    };
    return { dagId: spec.dagId, warnings };
  });
  const differing = wanted.filter(({ dagId, warnings }) => {
    // That a schedule fails is said where it is asked.
    const { [TIMETABLE_ERROR]: _, ...stored } = states.get(dagId)?.warnings ?? {};
    const types = new Set([...Object.keys(stored), ...Object.keys(warnings)]);
    return [...types].some((type) => stored[type] !== warnings[type]);
  });
  if (differing.length === 0) return false;
  const rows = differing.flatMap(({ dagId, warnings }) =>
    Object.entries(warnings).map(([type, message]) => ({ dagId, type, message })),
  );
  await tx.run(replaceWarnings, [
    differing.map(({ dagId }) => dagId),
    rows.map(({ dagId }) => dagId),
    rows.map(({ type }) => type),
    rows.map(({ message }) => message),
  ]);
  return true;
}
