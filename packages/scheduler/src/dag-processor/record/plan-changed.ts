// The next runs of DAGs that are new or have changed. Called with their rows locked, in the transaction that records them.
import type { DagSpec } from "@millrace/sdk/spec";
import {
  intervalOf,
  pointerOf,
  putPlans,
  readPlans,
  setTimetableErrors,
  storePointers,
  type DagToPlan,
  type Queryable,
  type RecordedDag,
} from "@millrace/shared/db";
import { isOwed, newPlan, pointerAfterChange, timeOf, type CustomPlan, type DagChange } from "@millrace/shared/model";

export interface ChangedDag {
  readonly spec: DagSpec;
  /** As it was; undefined when it is new. */
  readonly before: DagToPlan | undefined;
  readonly state: RecordedDag | undefined;
}

export async function planChanged(tx: Queryable, dags: readonly ChangedDag[]): Promise<void> {
  const ids = dags.map(({ spec }) => spec.dagId);
  const stored = await readPlans(
    tx,
    dags.filter(({ before }) => before !== undefined && isCustom(before.spec)).map(({ spec }) => spec.dagId),
  );
  const planned = dags.map((dag) => ({ dagId: dag.spec.dagId, ...plan(dag, stored.get(dag.spec.dagId)) }));
  await storePointers(tx, planned);
  const plans = new Map(planned.flatMap(({ dagId, plan }) => (plan === undefined ? [] : [[dagId, plan] as const])));
  await putPlans(
    tx,
    plans,
    ids.filter((id) => !plans.has(id)),
  );
  await tx.run(setTimetableErrors, [ids, ids.map(() => null)]);
}

const isCustom = (spec: DagSpec): boolean => timeOf(spec.schedule).kind === "custom";

function plan({ spec, before, state }: ChangedDag, stored: CustomPlan | undefined) {
  const change: DagChange = {
    // One that was away is seen for the first time again.
    before: before === undefined || before.isStale ? undefined : before.spec,
    after: spec,
    pointer: before === undefined ? undefined : pointerOf(before),
    isPaused: before?.isPaused ?? false,
    last: intervalOf(state?.lastStart ?? null, state?.lastEnd ?? null),
    now: state?.now.getTime() ?? 0,
  };
  if (!isCustom(spec)) return { next: pointerAfterChange(change), plan: undefined };
  // Its code may be another: only what is due already stays.
  const known = stored?.runs ?? (change.pointer === undefined ? [] : [change.pointer]);
  const owed = change.before === undefined ? [] : known.filter((run) => isOwed(change, run));
  return { next: owed[0], plan: newPlan(owed) };
}
