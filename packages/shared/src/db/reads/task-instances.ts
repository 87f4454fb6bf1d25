import { AppError } from "../../errors/index.ts";
import type { TaskState } from "../../model/index.ts";
import { inStates, matchPattern, oneOf, orderBy } from "./filters.ts";
import { readPage, readRows, sql, type Page, type PageRequest, type Query, type Reader } from "./query.ts";

export interface TaskInstanceRow {
  readonly id: string;
  readonly taskId: string;
  readonly dagId: string;
  readonly runId: string;
  readonly mapIndex: number;
  readonly state: TaskState;
  readonly tryNumber: number;
  readonly maxTries: number;
  readonly logicalDate: Date | null;
  readonly runAfter: Date;
  readonly startDate: Date | null;
  readonly endDate: Date | null;
  /** Seconds; of the last finished try. */
  readonly duration: number | null;
  readonly hostname: string | null;
  readonly unixname: string | null;
  readonly pid: number | null;
  readonly pool: string;
  readonly poolSlots: number;
  readonly queue: string;
  readonly priorityWeight: number;
  readonly operator: string | null;
  readonly taskDisplayName: string;
  readonly dagDisplayName: string;
  readonly scheduledDttm: Date | null;
  readonly queuedDttm: Date | null;
  readonly retryAt: Date | null;
  readonly executor: string | null;
  readonly renderedMapIndex: string | null;
  /** Of the last try that rendered any; none for the tries before. */
  readonly renderedFields: Readonly<Record<string, unknown>>;
  readonly triggerId: number | null;
  readonly dagVersionId: string | null;
  readonly versionNumber: number | null;
  readonly versionCreatedAt: Date | null;
}

export interface TaskInstanceFilter extends PageRequest {
  readonly taskId?: string | undefined;
  readonly taskIdPattern?: string | undefined;
  readonly dagIdPattern?: string | undefined;
  readonly runIdPattern?: string | undefined;
  /** `none` for those without a state yet. */
  readonly state?: readonly string[] | undefined;
  readonly pool?: readonly string[] | undefined;
  readonly queue?: readonly string[] | undefined;
  readonly operator?: readonly string[] | undefined;
  readonly mapIndex?: readonly number[] | undefined;
  /** Only instances of tasks that are expanded. */
  readonly isMapped?: boolean | undefined;
  readonly runIds?: readonly string[] | undefined;
  readonly orderBy?: readonly string[] | undefined;
}

const SORT = {
  id: "ti.id",
  state: "ti.state",
  task_id: "ti.task_id",
  duration: "ti.duration",
  start_date: "ti.start_date",
  end_date: "ti.end_date",
  map_index: "ti.map_index",
  try_number: "ti.try_number",
  logical_date: "ti.logical_date",
  run_after: "ti.run_after",
  rendered_map_index: "ti.rendered_map_index",
  operator: "ti.operator",
};
const COLUMNS = `ti.id, ti.task_id, ti.dag_id, ti.run_id, ti.map_index, coalesce(ti.state, 'none') as state, ti.try_number,
  ti.max_tries, ti.logical_date, ti.run_after, ti.start_date, ti.end_date, ti.duration, ti.hostname, ti.unixname, ti.pid,
  ti.pool, ti.pool_slots, ti.queue, ti.priority_weight, ti.operator, coalesce(ti.task_display_name, ti.task_id) as task_display_name,
  coalesce(d.dag_display_name, ti.dag_id) as dag_display_name, ti.scheduled_dttm, ti.queued_dttm, ti.retry_at, ti.executor,
  ti.rendered_map_index, ti.trigger_id, ti.dag_version_id, v.version_number, v.created_at as version_created_at,
  coalesce(rf.rendered_fields, '{}') as rendered_fields`;

const withNames = (query: Query): Query =>
  query.joinRaw(
    `left join dag d on d.dag_id = ti.dag_id left join dag_version v on v.id = ti.dag_version_id
    left join rendered_task_instance_fields rf on rf.dag_id = ti.dag_id and rf.task_id = ti.task_id
      and rf.run_id = ti.run_id and rf.map_index = ti.map_index`,
  );

/** @param dagId and @param runId: `~` for all */
export async function listTaskInstances(
  db: Reader,
  dagId: string,
  runId: string,
  filter: TaskInstanceFilter = {},
): Promise<Page<TaskInstanceRow>> {
  const query = sql.from({ ti: "task_instance" });
  if (dagId !== "~") void query.where("ti.dag_id", dagId);
  if (runId !== "~") void query.where("ti.run_id", runId);
  if (filter.taskId !== undefined) void query.where("ti.task_id", filter.taskId);
  oneOf(query, "ti.run_id", filter.runIds);
  matchPattern(query, "ti.task_id", filter.taskIdPattern);
  matchPattern(query, "ti.dag_id", filter.dagIdPattern);
  matchPattern(query, "ti.run_id", filter.runIdPattern);
  inStates(query, "ti.state", filter.state);
  oneOf(query, "ti.pool", filter.pool);
  oneOf(query, "ti.queue", filter.queue);
  oneOf(query, "ti.operator", filter.operator);
  oneOf(query, "ti.map_index", filter.mapIndex);
  if (filter.isMapped === true) void query.where("ti.map_index", ">=", 0);
  return await readPage<TaskInstanceRow>(
    db,
    query,
    { columns: COLUMNS, order: orderBy(SORT, filter.orderBy ?? ["map_index"], "ti.row_id"), joins: withNames },
    filter,
  );
}

export interface TaskInstanceKey {
  readonly dagId: string;
  readonly runId: string;
  readonly taskId: string;
  /** @default -1 */
  readonly mapIndex?: number | undefined;
}

const keyOf = (table: string, key: TaskInstanceKey) => ({
  [`${table}.dag_id`]: key.dagId,
  [`${table}.run_id`]: key.runId,
  [`${table}.task_id`]: key.taskId,
  [`${table}.map_index`]: key.mapIndex ?? -1,
});

/** @throws AppError TASK_NOT_FOUND */
export async function getTaskInstance(db: Reader, key: TaskInstanceKey): Promise<TaskInstanceRow> {
  const query = withNames(sql.from({ ti: "task_instance" }).where(keyOf("ti", key)));
  const [row] = await readRows<TaskInstanceRow>(db, query.select(sql.raw(COLUMNS)));
  if (row !== undefined) return row;
  const { dagId, runId, taskId, mapIndex } = key;
  const all = await readRows<{ mapIndex: number }>(
    db,
    sql.from("task_instance").where({ dag_id: dagId, run_id: runId, task_id: taskId }).select("map_index"),
  );
  throw taskNotFound({ dagId, runId, taskId }, mapIndex, all);
}

/** Of a task that is expanded it says which instances there are. */
export function taskNotFound(
  { dagId, runId, taskId }: Omit<TaskInstanceKey, "mapIndex">,
  mapIndex: number | undefined,
  instances: readonly { readonly mapIndex: number }[],
): AppError {
  const last = Math.max(-1, ...instances.map((ti) => ti.mapIndex));
  const index = mapIndex === undefined || mapIndex < 0 ? " without a map index" : ` with map index ${mapIndex}`;
  const mapped = last < 0 ? "" : `${index}: it is mapped, and its indexes are 0 to ${last}`;
  return new AppError("TASK_NOT_FOUND", { dagId, taskId, where: ` in run ${runId}${mapped}` });
}

const HISTORY = COLUMNS.replaceAll("ti.id,", "ti.task_instance_id as id,")
  .replace("coalesce(rf.rendered_fields, '{}')", "'{}'::json")
  .replace(/ti\.(logical_date|run_after|retry_at|executor)\b/g, (column) => `t.${column.slice(3)}`);

/** Every try, oldest first: those kept in the history and, unless it is kept there too, the current one. */
export async function listTries(db: Reader, key: TaskInstanceKey): Promise<TaskInstanceRow[]> {
  const current = await getTaskInstance(db, key);
  const query = sql
    .from({ ti: "task_instance_history" })
    .joinRaw("join task_instance t using (dag_id, run_id, task_id, map_index)")
    .where(keyOf("t", key))
    .orderBy("ti.try_number");
  const kept = await readRows<TaskInstanceRow>(db, withNames(query).select(sql.raw(HISTORY)));
  // A task that waits for its next try still carries the number of the one that ended.
  return kept.some((row) => row.tryNumber === current.tryNumber) ? kept : [...kept, current];
}
