import { oneOf, orderBy } from "./filters.ts";
import { readPage, sql, type Page, type PageRequest, type Reader } from "./query.ts";

export interface CallbackRow {
  readonly id: string;
  /** `onFailure`, `dagOnSuccess`, … */
  readonly kind: string;
  readonly state: "pending" | "running" | "success" | "failed";
  /** Null: a callback of the run. */
  readonly taskId: string | null;
  readonly mapIndex: number;
  readonly tryNumber: number;
  readonly createdAt: Date;
  readonly attempts: number;
  readonly leaseUntil: Date | null;
  readonly hostname: string | null;
  readonly output: string | null;
}

export interface CallbackFilter extends PageRequest {
  readonly state?: readonly string[] | undefined;
  readonly taskId?: string | undefined;
  readonly mapIndex?: number | undefined;
}

/** Those of a run and of its tasks, the oldest first. */
export async function listCallbacks(
  db: Reader,
  dagRunId: number,
  filter: CallbackFilter = {},
): Promise<Page<CallbackRow>> {
  const query = sql.from({ c: "callback" }).where("c.dag_run_id", dagRunId);
  oneOf(query, "c.state", filter.state);
  if (filter.taskId !== undefined) void query.where("c.task_id", filter.taskId);
  if (filter.mapIndex !== undefined) void query.where("c.map_index", filter.mapIndex);
  const order = orderBy({ created_at: "c.created_at" }, ["created_at"], "c.id");
  const joins = (page: typeof query) => page.joinRaw("left join job j on j.id = c.worker_job_id");
  return await readPage<CallbackRow>(db, query, { columns: "c.*, j.hostname", order, joins }, filter);
}
