// What changed since a moment, for pages that watch. Ids are given before the commit that shows them, so a reader that
// only looks past the last id it saw would miss the slower of two transactions: each call looks back by LOOK_BACK, and
// the caller drops what it saw before (runs by transition, task instances by epoch).
import type { RunState, TaskState } from "../../model/index.ts";
import { fromRows } from "../rows.ts";
import type { Reader } from "./query.ts";

const LOOK_BACK = "10 seconds";

export interface RunChange {
  /** Unique to this change. */
  readonly change: string;
  readonly dagId: string;
  readonly runId: string;
  readonly runType: string;
  readonly state: RunState;
  readonly runAfter: Date;
  readonly logicalDate: Date | null;
  readonly startDate: Date | null;
  readonly endDate: Date | null;
}

/** Ids that were settled at some moment: nothing at or below them will still appear. */
export interface ChangeCursor {
  readonly runId: number;
  readonly transitionId: number;
  readonly logId: number;
}

export async function readChangeCursor(db: Reader): Promise<ChangeCursor> {
  const [row] = fromRows<ChangeCursor>(
    await db.read<Record<string, unknown>>(
      `select coalesce((select max(id) from dag_run), 0)::int8 as run_id,
         coalesce((select max(id) from dag_run_transition), 0)::int8 as transition_id,
         coalesce((select max(id) from log), 0)::int8 as log_id`,
    ),
  );
  return row ?? { runId: 0, transitionId: 0, logId: 0 };
}

/** The cursor that holds now, given one from before: the newest ids that are older than the look-back. */
export async function advanceChangeCursor(db: Reader, from: ChangeCursor): Promise<ChangeCursor> {
  const [row] = fromRows<ChangeCursor>(
    await db.read<Record<string, unknown>>(
      `select
         coalesce((select max(id) from dag_run where id > $1 and created_at < now() - interval '${LOOK_BACK}'), $1)::int8 as run_id,
         coalesce((select max(id) from dag_run_transition where id > $2 and at < now() - interval '${LOOK_BACK}'), $2)::int8 as transition_id,
         coalesce((select max(id) from log where id > $3 and dttm < now() - interval '${LOOK_BACK}'), $3)::int8 as log_id`,
      [from.runId, from.transitionId, from.logId],
    ),
  );
  return row ?? from;
}

/** Runs created or changed after the cursor, each change once, in its order. */
export async function listRunChanges(db: Reader, cursor: ChangeCursor, limit = 1_000): Promise<RunChange[]> {
  const columns = "r.dag_id, r.run_id, r.run_type, r.state, r.run_after, r.logical_date, r.start_date, r.end_date";
  return fromRows<RunChange>(
    await db.read<Record<string, unknown>>(
      `(select 'r' || r.id as change, ${columns} from dag_run r where r.id > $1 order by r.id limit $3)
       union all
       (select 't' || t.id, ${columns} from dag_run_transition t join dag_run r on r.id = t.dag_run_id
        where t.id > $2 order by t.id limit $3)`,
      [cursor.runId, cursor.transitionId, limit],
    ),
  );
}

export interface TaskChange {
  readonly id: string;
  readonly epoch: number;
  readonly dagId: string;
  readonly runId: string;
  readonly taskId: string;
  readonly mapIndex: number;
  readonly state: TaskState;
  readonly tryNumber: number;
  readonly startDate: Date | null;
  readonly endDate: Date | null;
  readonly duration: number | null;
}

/** Task instances written lately: those of running runs of `dagIds`, and of `runs` whatever their state. */
export async function listTaskChanges(
  db: Reader,
  dagIds: readonly string[],
  runs: readonly { readonly dagId: string; readonly runId: string }[],
): Promise<TaskChange[]> {
  return fromRows<TaskChange>(
    await db.read<Record<string, unknown>>(
      `with watched as (
         select r.dag_id, r.run_id from dag_run r where r.dag_id = any ($1) and r.state = 'running'
         union select d collate "C", r collate "C" from unnest($2::text[], $3::text[]) as u(d, r))
       select ti.id, ti.epoch, ti.dag_id, ti.run_id, ti.task_id, ti.map_index, coalesce(ti.state, 'none') as state,
         ti.try_number, ti.start_date, ti.end_date, ti.duration
       from watched w join task_instance ti on ti.dag_id = w.dag_id and ti.run_id = w.run_id
       where ti.updated_at > now() - interval '${LOOK_BACK}'
       order by ti.updated_at limit 5000`,
      [dagIds, runs.map((run) => run.dagId), runs.map((run) => run.runId)],
    ),
  );
}

export interface PauseChange {
  readonly id: number;
  readonly dagId: string;
  readonly isPaused: boolean;
}

export async function listPauseChanges(db: Reader, cursor: ChangeCursor): Promise<PauseChange[]> {
  return fromRows<PauseChange>(
    await db.read<Record<string, unknown>>(
      `select l.id, l.dag_id, d.is_paused from log l join dag d on d.dag_id = l.dag_id
       where l.id > $1 and l.event in ('pause_dag', 'unpause_dag') order by l.id limit 1000`,
      [cursor.logId],
    ),
  );
}
