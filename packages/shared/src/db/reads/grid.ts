// The runs × tasks matrix, aggregated in Postgres: one entry a run, task and state however often the task is mapped, and
// one row a run, so that a thousand tasks are one value to read.
import { fromRows } from "../rows.ts";
import type { TaskState } from "../../model/index.ts";
import type { Reader } from "./query.ts";

/** So many task instances of the task are in the state. */
export type GridCell = readonly [taskId: string, state: TaskState, count: number];

export interface GridColumn {
  readonly runId: string;
  readonly cells: readonly GridCell[];
}

/** No column for a run without tasks. */
export async function listGridColumns(db: Reader, dagId: string, runIds: readonly string[]): Promise<GridColumn[]> {
  const rows = await db.read<Record<string, unknown>>(
    `select run_id, json_agg(json_build_array(task_id, state, n)) as cells
     from (
       select run_id, task_id, coalesce(state, 'none') as state, count(*) as n
       from task_instance where dag_id = $1 and run_id = any ($2) group by 1, 2, 3) s
     group by run_id`,
    [dagId, runIds],
  );
  return fromRows<GridColumn>(rows);
}
