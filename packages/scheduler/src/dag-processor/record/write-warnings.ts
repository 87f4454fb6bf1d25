import type { DagSpec } from "@millrace/sdk/spec";
import { readPools, replaceWarnings, TIMETABLE_ERROR, type Queryable, type RecordedDag } from "@millrace/shared/db";
import { catchupWarnings } from "./catchup-warnings.ts";
import { poolsOf, poolWarnings } from "./pool-warnings.ts";

/** Writes the warnings of dags where they differ from those of `states`; false when none does. */
export async function writeWarnings(
  tx: Queryable,
  specs: readonly DagSpec[],
  states: ReadonlyMap<string, RecordedDag>,
): Promise<boolean> {
  const slots = new Map((await tx.run(readPools, [poolsOf(specs)])).map((pool) => [pool.pool, pool.slots]));
  const wanted = specs.map((spec) => ({
    dagId: spec.dagId,
    warnings: { ...poolWarnings(spec, slots), ...catchupWarnings(spec, states.get(spec.dagId)) },
  }));
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
