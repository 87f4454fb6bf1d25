// The runs × tasks matrix, aggregated in Postgres: one row a run and task however often the task is mapped.
import { fromRows } from "../rows.ts";
import type { TaskState } from "../../model/index.ts";
import type { Reader } from "./query.ts";

export interface GridCell {
  readonly runId: string;
  readonly taskId: string;
  /** How many task instances are in which state. */
  readonly states: Readonly<Partial<Record<TaskState, number>>>;
  readonly tryNumber: number;
  readonly startDate: Date | null;
  readonly endDate: Date | null;
}

export async function listGridCells(db: Reader, dagId: string, runIds: readonly string[]): Promise<GridCell[]> {
  const rows = await db.read<Record<string, unknown>>(
    `select run_id, task_id, jsonb_object_agg(state, n) as states, max(try_number) as try_number,
       min(start_date) as start_date, max(end_date) as end_date
     from (
       select run_id, task_id, coalesce(state, 'none') as state, count(*) as n, max(try_number) as try_number,
         min(start_date) as start_date, max(end_date) as end_date
       from task_instance where dag_id = $1 and run_id = any ($2) group by run_id, task_id, state) s
     group by run_id, task_id`,
    [dagId, runIds],
  );
  return fromRows<GridCell>(rows);
}
