// Starting runs, waiting for their end, and reading what happened to their tasks.
import { setTimeout as pause } from "node:timers/promises";
import { createRuns } from "@millrace/shared/db";
import type { Engine } from "./engine.ts";

/** Creates `perDag` manual runs of every named DAG, in a few transactions, and wakes the scheduler once. */
export async function startRuns(
  engine: Engine,
  dagIds: readonly string[],
  perDag: number,
  conf: Readonly<Record<string, number>> = {},
): Promise<number[]> {
  const newest = await engine.db.read<{ dagId: string; versionId: string }>(
    `select distinct on (dag_id) dag_id as "dagId", id as "versionId" from dag_version where dag_id = any ($1)
     order by dag_id, version_number desc`,
    [dagIds],
  );
  const graphs = await engine.versions.load(newest.map((dag) => dag.versionId));
  const stamp = `${Date.now()}`;
  const ids: number[] = [];
  for (let round = 0; round < perDag; round++) {
    const runs = newest.flatMap(({ versionId }) => {
      const graph = graphs.get(versionId);
      if (graph === undefined) return [];
      const run = {
        graph,
        versionId,
        runId: `manual__${stamp}_${round}`,
        runType: "manual",
        logicalDate: null,
        interval: null,
      } as const;
      return [{ ...run, runAfter: null, conf, triggeredBy: "test", user: null } as const];
    });
    const created = await engine.db.transaction(async (tx) => await createRuns(tx, runs));
    ids.push(...created.map((run) => run.id));
  }
  engine.broker.wake([{ dagRunId: null, taskIds: null }]);
  return ids;
}

/** Resolves when all of them have ended. */
export async function runsToEnd(engine: Engine, ids: readonly number[], timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const [left] = await engine.db.read<{ open: number; failed: number }>(
      `select count(*) filter (where state in ('queued', 'running'))::int as open,
              count(*) filter (where state = 'failed')::int as failed
       from dag_run where id = any ($1)`,
      [ids],
    );
    if (left === undefined || left.failed > 0) throw new Error(`${left?.failed ?? "?"} runs failed`);
    if (left.open === 0) return;
    if (performance.now() > deadline)
      throw new Error(`${left.open} of ${ids.length} runs did not end within ${timeoutMs} ms`);
    await pause(20);
  }
}

/** The validity gate: every task succeeded exactly once, in order, and nothing is left over. */
export async function assertValid(engine: Engine, ids: readonly number[], tasks: number): Promise<void> {
  const [found] = await engine.db.read<{ tasks: number; good: number; changes: number; disorder: number }>(
    `select count(*)::int as tasks,
       count(*) filter (where state = 'success' and try_number = 1 and epoch = 4)::int as good,
       (select count(*)::int from task_instance_transition l join task_instance t using (row_id) where t.dag_run_id = any ($1)) as changes,
       (select count(*)::int from task_instance a join task_instance b
          on a.dag_run_id = b.dag_run_id and b.task_id = 't' || (substr(a.task_id, 2)::int + 1)
        where a.dag_run_id = any ($1) and b.start_date < a.end_date) as disorder
     from task_instance where dag_run_id = any ($1)`,
    [ids],
  );
  const isValid =
    found !== undefined &&
    found.tasks === tasks &&
    found.good === tasks &&
    found.changes === 4 * tasks &&
    found.disorder === 0;
  if (!isValid) throw new Error(`not valid: ${JSON.stringify(found)}, expected ${tasks} tasks`);
}
