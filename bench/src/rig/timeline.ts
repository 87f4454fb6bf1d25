// When each task of finished runs could start, did start and ended. Ready is the commit that ended the last task before it,
// or that started its run; start is the first line of user code, which `timed` tasks return.
import type { Engine } from "./engine.ts";
import { quantile, spread } from "./statistics.ts";

export interface TaskTimes {
  readonly dagRunId: number;
  readonly taskId: string;
  readonly isRoot: boolean;
  /** Milliseconds since the epoch, as all of these. */
  readonly readyMs: number;
  /** NaN for a task that returns none. */
  readonly startMs: number;
  readonly endMs: number;
  readonly lagMs: number;
}

interface Row {
  readonly dagRunId: number;
  readonly versionId: string;
  readonly taskId: string;
  readonly runStartMs: number;
  readonly startMs: number | null;
  readonly endMs: number;
}

export async function readTimeline(engine: Engine, ids: readonly number[]): Promise<TaskTimes[]> {
  const rows = await engine.db.read<Row>(
    `select ti.dag_run_id::int as "dagRunId", ti.dag_version_id as "versionId", ti.task_id as "taskId",
       extract(epoch from s.at)::float8 * 1000 as "runStartMs", x.value::text::float8 as "startMs",
       extract(epoch from l.at)::float8 * 1000 as "endMs"
     from task_instance ti
     join task_instance_transition l on l.row_id = ti.row_id and l.to_state = 'success'
     join dag_run_transition s on s.dag_run_id = ti.dag_run_id and s.to_state = 'running'
     left join xcom x on x.dag_run_id = ti.dag_run_id and x.task_id = ti.task_id and x.key = 'return_value'
     where ti.dag_run_id = any ($1) order by ti.row_id`,
    [ids],
  );
  const graphs = await engine.versions.load(rows.map((row) => row.versionId));
  const keyOf = (dagRunId: number, taskId: string) => `${dagRunId}\n${taskId}`;
  const ends = new Map(rows.map((row) => [keyOf(row.dagRunId, row.taskId), row.endMs]));
  return rows.map((row) => {
    const upstream = graphs.get(row.versionId)?.tasks.get(row.taskId)?.upstream ?? [];
    const readyMs = Math.max(row.runStartMs, ...upstream.map((taskId) => ends.get(keyOf(row.dagRunId, taskId)) ?? NaN));
    const startMs = row.startMs ?? NaN;
    const { dagRunId, taskId, endMs } = row;
    return { dagRunId, taskId, isRoot: upstream.length === 0, readyMs, startMs, endMs, lagMs: startMs - readyMs };
  });
}

/** Of the tasks that come after others. */
export const lagsOf = (timeline: readonly TaskTimes[]): number[] =>
  timeline.filter((task) => !task.isRoot).map((task) => task.lagMs);

/** From the start of the first run to the end of the last task. */
export const makespanMs = (timeline: readonly TaskTimes[]): number =>
  Math.max(...timeline.map((task) => task.endMs)) - Math.min(...timeline.map((task) => task.readyMs));

export interface Lags {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

export const quantiles = (lags: readonly number[]): Lags => ({
  p50: quantile(lags, 0.5),
  p95: quantile(lags, 0.95),
  p99: quantile(lags, 0.99),
});

/** Of one or more measurements, with their ranges. */
export const showLags = (all: readonly Lags[]): string =>
  (["p50", "p95", "p99"] as const).map((name) => `${name} ${spread(all.map((lags) => lags[name]))} ms`).join(", ");
