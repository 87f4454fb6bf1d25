// `disableBundleVersioning`: runs of the DAG are not tied to the version that they were created with. A new version takes
// the runs that are not over along, as `clear --run-on-latest-version` takes the runs that it clears.
import type { DagSpec } from "@millrace/sdk/spec";
import { lockOpenRuns, moveToNewest, type InsertedVersion, type Queryable } from "@millrace/shared/db";
import { buildDagGraph } from "@millrace/shared/model";

/** The caller holds the dags. Gives the runs that were moved. */
export async function followNewest(
  tx: Queryable,
  versions: readonly InsertedVersion[],
  specs: readonly DagSpec[],
  maxMapLength: number,
): Promise<number[]> {
  const moved: number[] = [];
  for (const { dagId, id } of versions) {
    const spec = specs.find((one) => one.dagId === dagId);
    if (spec?.disableBundleVersioning !== true) continue;
    const runs = await tx.run(lockOpenRuns, [dagId]);
    const graph = buildDagGraph(spec, maxMapLength);
    await moveToNewest(tx, { runs, tasks: [], graphs: new Map(), newest: { id, graph } });
    moved.push(...runs.map((run) => run.id));
  }
  return moved;
}
