// Plans of custom schedules, as they are kept. Whoever reads one to change it holds the row of its dag.
import type { CustomPlan } from "../model/index.ts";
import type { Queryable } from "./database.ts";
import { keepRestOfPlans } from "./statements/timetable-keep-rest.ts";
import { putTimetablePlans } from "./statements/timetable-put-plans.ts";
import { readTimetablePlans } from "./statements/timetable-read-plans.ts";

export async function readPlans(tx: Queryable, dagIds: readonly string[]): Promise<ReadonlyMap<string, CustomPlan>> {
  if (dagIds.length === 0) return new Map();
  const rows = await tx.run(readTimetablePlans, [dagIds]);
  return new Map(rows.map((row) => [row.dagId, { ...row, askedUntil: row.askedUntil?.getTime() ?? null }]));
}

/** Writes plans anew. @param without dags whose schedule is of another kind now */
export async function putPlans(
  tx: Queryable,
  plans: ReadonlyMap<string, CustomPlan>,
  without: readonly string[] = [],
): Promise<void> {
  if (plans.size === 0 && without.length === 0) return;
  const all = [...plans.values()];
  await tx.run(putTimetablePlans, [
    without,
    [...plans.keys()],
    all.map((plan) => JSON.stringify(plan.runs)),
    all.map((plan) => JSON.stringify(plan.manual)),
    all.map((plan) => plan.ended),
    all.map((plan) => (plan.askedUntil === null ? null : new Date(plan.askedUntil))),
  ]);
}

/** Writes what is left of plans after runs were created from them. */
export async function keepRest(tx: Queryable, plans: ReadonlyMap<string, CustomPlan>): Promise<void> {
  if (plans.size === 0) return;
  await tx.run(keepRestOfPlans, [[...plans.keys()], [...plans.values()].map((plan) => JSON.stringify(plan.runs))]);
}
