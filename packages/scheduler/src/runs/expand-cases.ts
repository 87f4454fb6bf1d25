// Carries out what mappings make of task instances, in the transaction of the examination: then the instances that came of
// it are decided like all others. Run rows are locked, so that no other scheduler does the same.
import { clearAttempts, collapseTasks, expandTasks, newId, type TaskInstanceSnapshot } from "@millrace/shared/db";
import type { Expansion } from "@millrace/shared/model";
import type { ActorDeps } from "../deps.ts";
import type { Case } from "./examine-runs.ts";

type Of<K extends Expansion["kind"]> = Extract<Expansion<TaskInstanceSnapshot>, { kind: K }>;

/** Writes the expansions of the cases, and puts what comes of them into what is known of their runs. */
export async function writeExpansions({ tx }: ActorDeps, cases: readonly Case[]): Promise<void> {
  const of = <K extends Expansion["kind"]>(kind: K) =>
    cases.flatMap((c) => c.expansions.filter((one): one is Of<K> => one.kind === kind).map((one) => ({ c, ...one })));
  const [added, collapsed, revived] = [of("add"), of("collapse"), of("revive")];
  if (added.length > 0) {
    const rows = added.map((one) => ({ ...one, rows: newInstances(one, one.c.known.get(one.ti.taskId) ?? []) }));
    await tx.run(expandTasks, [
      added.map(({ ti }) => ti.id),
      added.map(({ ti }) => ti.epoch),
      rows.flatMap(({ ti, rows: more }) => more.map(() => ti.id)),
      rows.flatMap(({ rows: more }) => more.map(({ id }) => id)),
      rows.flatMap(({ rows: more }) => more.map(({ mapIndex }) => mapIndex)),
    ]);
    for (const { c, ti, rows: more } of rows) {
      const first = ti.mapIndex < 0 ? { ...ti, mapIndex: 0 } : ti;
      replace(c, ti, [first, ...more]);
    }
  }
  if (collapsed.length > 0) {
    await tx.run(collapseTasks, [collapsed.map(({ ti }) => ti.id), collapsed.map(({ ti }) => ti.epoch)]);
    for (const { c, ti } of collapsed) replace(c, ti, [{ ...ti, mapIndex: -1 }]);
  }
  const fresh = revived.flatMap(({ c, tis }) => tis.map((ti) => ({ c, ti, id: newId() })));
  if (fresh.length > 0) {
    await tx.run(clearAttempts, [
      fresh.map(({ ti }) => ti.id),
      fresh.map(({ ti }) => ti.epoch),
      fresh.map(({ id }) => id),
      fresh.map(({ c, ti }) => c.graph.tasks.get(ti.taskId)?.spec.retries ?? 0),
    ]);
    for (const { c, ti, id } of fresh) {
      replace(c, ti, [{ ...ti, id, epoch: ti.epoch + 1, state: "none", isDue: true, branchDecision: null }]);
    }
  }
}

/** Those that an earlier, longer list left are there already. */
function newInstances({ ti, from, length }: Of<"add">, known: readonly TaskInstanceSnapshot[]): TaskInstanceSnapshot[] {
  const { lists: _lists, ...like } = ti;
  const first = Math.max(from, ti.mapIndex < 0 ? 1 : 0);
  const taken = new Set(known.map(({ mapIndex }) => mapIndex));
  return Array.from({ length: Math.max(0, length - first) }, (_, i) => first + i)
    .filter((mapIndex) => ti.mapIndex >= 0 || !taken.has(mapIndex))
    .map((mapIndex) => ({ ...like, id: newId(), epoch: 0, mapIndex }));
}

function replace(c: Case, before: TaskInstanceSnapshot, after: readonly TaskInstanceSnapshot[]): void {
  const known = c.known.get(before.taskId) ?? [];
  c.known.set(
    before.taskId,
    known.flatMap((ti) => (ti === before ? after : [ti])),
  );
}
