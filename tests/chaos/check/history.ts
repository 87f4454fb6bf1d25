// All that Postgres knows afterwards, in the order in which it was committed.
import type pg from "pg";

export interface Change {
  readonly rowId: number;
  readonly dagId: string;
  readonly runId: string;
  readonly dagRunId: number;
  readonly taskId: string;
  readonly mapIndex: number;
  readonly epoch: number;
  readonly attemptId: string;
  readonly from: string;
  readonly to: string;
  readonly tryNumber: number;
  readonly actor: string;
  /** Milliseconds since the epoch, of the statement. */
  readonly at: number;
  /** Microseconds since the epoch, of the commit. */
  readonly committed: number;
}

export interface RunChange {
  readonly dagRunId: number;
  readonly dagId: string;
  readonly from: string;
  readonly to: string;
  readonly actor: string;
  readonly committed: number;
}

export interface TaskRow {
  readonly rowId: number;
  readonly dagId: string;
  readonly runId: string;
  readonly taskId: string;
  readonly mapIndex: number;
  readonly state: string;
  readonly epoch: number;
  readonly tryNumber: number;
  readonly maxTries: number;
  readonly infraFailures: number;
  readonly reason: string | null;
  readonly value: unknown;
}

export interface RunRow {
  readonly id: number;
  readonly dagId: string;
  readonly runId: string;
  readonly type: string;
  readonly state: string;
  readonly logicalDate: number | null;
}

export interface CallbackRow {
  readonly id: string;
  readonly dagId: string;
  readonly runId: string;
  readonly taskId: string | null;
  readonly tryNumber: number;
  readonly kind: string;
  readonly state: string;
  readonly output: string | null;
}

export interface AssetEventRow {
  readonly id: number;
  readonly dagId: string;
  readonly runId: string;
  readonly taskId: string;
  /** Runs that it is among the causes of. */
  readonly runs: number;
}

export interface Loss {
  readonly dagId: string;
  readonly runId: string;
  readonly taskId: string;
  readonly tryNumber: number;
  readonly at: number;
  readonly text: string;
}

/** A row of the audit log about a run as a whole. */
export interface Audit {
  readonly event: string;
  readonly dagId: string;
  readonly runId: string;
}

export interface History {
  readonly changes: readonly Change[];
  readonly runChanges: readonly RunChange[];
  readonly tasks: readonly TaskRow[];
  readonly runs: readonly RunRow[];
  readonly callbacks: readonly CallbackRow[];
  readonly losses: readonly Loss[];
  readonly triggersLeft: number;
  readonly assetEvents: readonly AssetEventRow[];
  readonly audits: readonly Audit[];
}

const MICROS = (what: string) => `(extract(epoch from ${what}) * 1000000)::float8`;
const MILLIS = (what: string) => `(extract(epoch from ${what}) * 1000)::float8`;

export async function readHistory(client: pg.Client): Promise<History> {
  const rows = async <R extends pg.QueryResultRow>(sql: string): Promise<R[]> => (await client.query<R>(sql)).rows;
  // One snapshot: what is asked later must not be newer.
  await client.query("begin isolation level repeatable read, read only");
  return {
    changes: await rows<Change>(`
      select t.row_id::int as "rowId", i.dag_id as "dagId", i.run_id as "runId", i.dag_run_id::int as "dagRunId",
        i.task_id as "taskId", i.map_index as "mapIndex", t.epoch, t.ti_id as "attemptId",
        coalesce(t.from_state, 'none') as "from", coalesce(t.to_state, 'none') as "to", t.try_number as "tryNumber",
        t.actor, ${MILLIS("t.at")} as at, ${MICROS("pg_xact_commit_timestamp(t.xmin)")} as committed
      from task_instance_transition t join task_instance i using (row_id)
      order by pg_xact_commit_timestamp(t.xmin), t.row_id, t.epoch`),
    runChanges: await rows<RunChange>(`
      select t.dag_run_id::int as "dagRunId", r.dag_id as "dagId", t.from_state as "from", t.to_state as "to", t.actor,
        ${MICROS("pg_xact_commit_timestamp(t.xmin)")} as committed
      from dag_run_transition t join dag_run r on r.id = t.dag_run_id
      order by pg_xact_commit_timestamp(t.xmin), t.id`),
    tasks: await rows<TaskRow>(`
      select i.row_id::int as "rowId", i.dag_id as "dagId", i.run_id as "runId", i.task_id as "taskId",
        i.map_index as "mapIndex", coalesce(i.state, 'none') as state, i.epoch, i.try_number as "tryNumber",
        i.max_tries as "maxTries", i.infra_failures as "infraFailures", i.state_reason as reason, x.value
      from task_instance i
      left join xcom x on x.dag_run_id = i.dag_run_id and x.task_id = i.task_id and x.map_index = i.map_index
        and x.key = 'return_value'`),
    runs: await rows<RunRow>(`
      select id::int as id, dag_id as "dagId", run_id as "runId", run_type as type, state,
        ${MILLIS("logical_date")} as "logicalDate" from dag_run order by dag_id, logical_date`),
    callbacks: await rows<CallbackRow>(`
      select c.id, r.dag_id as "dagId", r.run_id as "runId", c.task_id as "taskId", c.try_number as "tryNumber", c.kind,
        c.state, c.output from callback c join dag_run r on r.id = c.dag_run_id`),
    losses: await rows<Loss>(`
      select dag_id as "dagId", run_id as "runId", task_id as "taskId", try_number as "tryNumber",
        ${MILLIS("dttm")} as at, extra as text from log where event = 'heartbeat timeout' order by dttm`),
    assetEvents: await rows<AssetEventRow>(`
      select e.id::int as id, e.source_dag_id as "dagId", e.source_run_id as "runId", e.source_task_id as "taskId",
        (select count(*)::int from dagrun_asset_event t where t.event_id = e.id) as runs
      from asset_event e order by e.id`),
    audits: await rows<Audit>(`
      select event, dag_id as "dagId", run_id as "runId" from log
      where event = 'trigger_dag_run' or event like 'mark run %' or event = 'delete run'`),
    triggersLeft: (await rows<{ n: number }>(`select count(*)::int as n from trigger`))[0]?.n ?? 0,
  };
}

/** Who is no process of Millrace is a person. */
export const isPerson = (actor: string): boolean => !actor.startsWith("millrace ");
