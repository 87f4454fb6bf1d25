// Starting runs, waiting for their end, and reading what happened to their tasks.
import { setTimeout as pause } from "node:timers/promises";
import { createRuns } from "@millrace/shared/db";
import type { Engine } from "./engine.ts";

export interface StartOptions {
  readonly conf?: Readonly<Record<string, number>>;
  /** Of the runs of the n-th round, as for DAGs that depend on their past. Default: none. */
  readonly logicalDate?: (round: number) => Date;
}

let calls = 0;

/** Creates `perDag` manual runs of every named DAG, a transaction a round, and wakes the scheduler once. */
export async function startRuns(
  engine: Engine,
  dagIds: readonly string[],
  perDag: number,
  { conf = {}, logicalDate }: StartOptions = {},
): Promise<number[]> {
  const newest = await engine.db.read<{ dagId: string; versionId: string }>(
    `select distinct on (dag_id) dag_id as "dagId", id as "versionId" from dag_version where dag_id = any ($1)
     order by dag_id, version_number desc`,
    [dagIds],
  );
  const graphs = await engine.versions.load(newest.map((dag) => dag.versionId));
  const stamp = `${Date.now()}_${calls++}`;
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
        logicalDate: logicalDate?.(round).getTime() ?? null,
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

/** Starts a run of each, one after the other, whatever became of those before; gives their ids. */
export async function startPaced(engine: Engine, dagIds: readonly string[], everyMs: number): Promise<number[]> {
  const begun = performance.now();
  const ids: number[] = [];
  for (const [n, dagId] of dagIds.entries()) {
    await pause(Math.max(0, begun + n * everyMs - performance.now()));
    ids.push(...(await startRuns(engine, [dagId], 1)));
  }
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

/** The validity gate: every task succeeded exactly once, after all that it comes after, and nothing is left over. */
export async function assertValid(engine: Engine, ids: readonly number[], tasks: number): Promise<void> {
  const rows = await engine.db.read<Outcome>(
    `select dag_run_id::int as "dagRunId", dag_version_id as "versionId", task_id as "taskId",
       state = 'success' and try_number = 1 and epoch = 4 as "isGood", start_date as start, end_date as end
     from task_instance where dag_run_id = any ($1)`,
    [ids],
  );
  const [log] = await engine.db.read<{ changes: number; history: number; waits: number }>(
    `select count(*)::int as changes,
       (select count(*)::int from task_instance_history h join dag_run r using (dag_id, run_id) where r.id = any ($1)) as history,
       (select count(*)::int from trigger) as waits
     from task_instance_transition l join task_instance t using (row_id) where t.dag_run_id = any ($1)`,
    [ids],
  );
  const disorder = await countDisorder(engine, rows);
  const good = rows.filter((row) => row.isGood).length;
  const found = { tasks: rows.length, good, ...log, disorder };
  const isValid = rows.length === tasks && good === tasks && disorder === 0;
  if (!isValid || log?.changes !== 4 * tasks || log.history + log.waits > 0) {
    throw new Error(`not valid: ${JSON.stringify(found)}, expected ${tasks} tasks`);
  }
}

interface Outcome {
  readonly dagRunId: number;
  readonly versionId: string;
  readonly taskId: string;
  readonly isGood: boolean;
  readonly start: Date | null;
  readonly end: Date | null;
}

/** Tasks that started before one that they come after had ended. */
async function countDisorder(engine: Engine, rows: readonly Outcome[]): Promise<number> {
  const graphs = await engine.versions.load(rows.map((row) => row.versionId));
  const ends = new Map(rows.map((row) => [`${row.dagRunId} ${row.taskId}`, row.end?.getTime() ?? Infinity]));
  return rows.filter(({ dagRunId, versionId, taskId, start }) => {
    const upstream = graphs.get(versionId)?.tasks.get(taskId)?.upstream ?? [];
    const startMs = start?.getTime() ?? 0;
    return upstream.some((id) => startMs < (ends.get(`${dagRunId} ${id}`) ?? Infinity));
  }).length;
}
