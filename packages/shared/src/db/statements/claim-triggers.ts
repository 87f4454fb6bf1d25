// Who runs a trigger. Unowned ones are claimed by triggerers, the weightiest task first, then the oldest; those of a
// triggerer that is gone become unowned again. Locks: the rows; those that another triggerer is claiming are skipped.
// Index: idx_trigger_triggerer_id. A question to people has nothing that could be run and stays unowned.
import { defineStatement } from "../statement.ts";

export interface ClaimedTrigger {
  readonly id: number;
  readonly name: string;
  /** TriggerSpec.kwargs as they are kept: JSON, or that encrypted. */
  readonly kwargs: string;
  /** Null: of a watcher. */
  readonly attemptId: string | null;
  /** The DAG whose watcher it is. */
  readonly watcherOf: string | null;
  /** The database's time, in milliseconds since 1970: when the wait began, and now. */
  readonly createdMs: number;
  readonly nowMs: number;
}

/** Triggers that one with this list of queues may run; `$n` is the list, null for a triggerer that names none. */
const servedBy = (parameter: string): string =>
  `case when ${parameter}::text[] is null then t.queue is null else t.queue = any (${parameter}::text[]) end`;

const PARKED = `t.classpath <> 'millrace.hitl'`;

const COLUMNS = `t.id, t.classpath as name, t.kwargs,
  (select ti.id from task_instance ti where ti.trigger_id = t.id limit 1) as "attemptId",
  (select w.dag_id from asset_watcher w where w.trigger_id = t.id limit 1) as "watcherOf", extract(epoch from t.created_date)::float8 * 1000 as "createdMs",
  extract(epoch from clock_timestamp())::float8 * 1000 as "nowMs"`;

export const claimTriggers = defineStatement<
  readonly [triggererJobId: number, limit: number, queues: readonly string[] | null],
  ClaimedTrigger
>({
  name: "claim-triggers",
  sql: `
with wanted as (
  select t.id
  from trigger t
  left join task_instance ti on ti.trigger_id = t.id
  where t.triggerer_id is null and ${PARKED} and ${servedBy("$3")}
  order by ti.priority_weight desc nulls last, t.created_date, t.id
  limit $2
  for update of t skip locked
)
update trigger t set triggerer_id = $1 from wanted w where t.id = w.id
returning ${COLUMNS}`,
});

/** The whole of triggers that this triggerer has already, after an answer was lost. */
export const readTriggers = defineStatement<readonly [triggererJobId: number, ids: readonly number[]], ClaimedTrigger>({
  name: "read-triggers",
  sql: `select ${COLUMNS} from trigger t where t.id = any ($2::int[]) and t.triggerer_id = $1`,
});

/** Gives back what a triggerer has. */
export const releaseTriggers = defineStatement<readonly [triggererJobId: number], { readonly id: number }>({
  name: "release-triggers",
  sql: `update trigger set triggerer_id = null where triggerer_id = $1 returning id`,
});

const LIVE = (threshold: string): string => `
  select id from job where job_type = 'TriggererJob' and end_date is null
    and latest_heartbeat > now() - make_interval(secs => ${threshold})`;

/**
 * Makes the triggers of ended and silent triggerers unowned. Nobody is judged before the server has been up for as long
 * as a triggerer may be silent: an outage silences everyone.
 */
export const releaseLostTriggers = defineStatement<
  readonly [thresholdSeconds: number, limit: number, askingJobId: number],
  { readonly id: number }
>({
  name: "release-lost-triggers",
  sql: `
with live as materialized (${LIVE("$1")} union select $3::int), ended as materialized (
  select id from job where job_type = 'TriggererJob' and end_date is not null
), lost as (
  select t.id
  from trigger t
  where t.triggerer_id is not null and t.triggerer_id <> all (array(select id from live))
    and (pg_postmaster_start_time() < now() - make_interval(secs => $1) or t.triggerer_id in (select id from ended))
  limit $2
  for update skip locked
)
update trigger t set triggerer_id = null from lost where t.id = lost.id
returning t.id`,
});

export interface TriggerSurvey {
  /** Triggers that nobody has and this triggerer may run. */
  readonly open: number;
  /** Those that live triggerers of the same queues have, this one included. */
  readonly held: number;
  /** Those that this one has. */
  readonly mine: number;
  /** Live triggerers of the same queues, this one included. */
  readonly peers: number;
  readonly nowMs: number;
}

/** How the load is shared, for one triggerer. */
export const surveyTriggers = defineStatement<
  readonly [triggererJobId: number, thresholdSeconds: number, queues: readonly string[] | null],
  TriggerSurvey
>({
  name: "survey-triggers",
  sql: `
with live as materialized (${LIVE("$2")}
    and (case when $3::text[] is null then coalesce(queues, '{}') = '{}' else queues && $3::text[] end)
  union select $1::int
), held as (
  select triggerer_id as id, count(*)::int as n from trigger where triggerer_id = any (array(select id from live)) group by 1
)
select
  (select count(*)::int from trigger t where t.triggerer_id is null and ${PARKED} and ${servedBy("$3")}) as open,
  coalesce((select sum(n)::int from held), 0) as held,
  coalesce((select n from held where id = $1), 0) as mine,
  (select count(*)::int from live) as peers,
  extract(epoch from clock_timestamp())::float8 * 1000 as "nowMs"`,
});

export interface KeptKwargs {
  readonly id: number;
  readonly kwargs: string;
  readonly attemptId: string | null;
  readonly watcherOf: string | null;
}

/** The triggers after an id, kept from others until the transaction ends. Locks: trigger, by id. */
export const lockTriggersAfter = defineStatement<readonly [id: number, atMost: number], KeptKwargs>({
  name: "lock-triggers-after",
  sql: `
select t.id, t.kwargs, ti.id as "attemptId", w.dag_id as "watcherOf" from trigger t
left join task_instance ti on ti.trigger_id = t.id left join asset_watcher w on w.trigger_id = t.id
where t.id > $1 order by t.id limit $2 for update of t`,
});

export const encryptTriggers = defineStatement<readonly [ids: readonly number[], kwargs: readonly string[]], never>({
  name: "encrypt-triggers",
  sql: `update trigger t set kwargs = n.kwargs from unnest($1::int[], $2::text[]) as n(id, kwargs) where t.id = n.id`,
});
