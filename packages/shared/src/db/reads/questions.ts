// Questions that tasks ask people, open and answered.
import type { Json } from "@millrace/sdk/spec";
import { orderBy, within, type TimeRange } from "./filters.ts";
import { readPage, sql, type Page, type PageRequest, type Query, type Reader } from "./query.ts";

export interface Person {
  readonly id: string;
  readonly name: string;
}

export interface QuestionRow {
  readonly tiId: string;
  readonly dagId: string;
  readonly runId: string;
  readonly taskId: string;
  readonly mapIndex: number;
  readonly tryNumber: number;
  /** Of the attempt that asks: it can be answered while it is deferred. */
  readonly state: string;
  readonly subject: string;
  readonly body: string | null;
  readonly options: readonly string[];
  readonly defaults: readonly string[] | null;
  readonly multiple: boolean;
  /** JSON Schemas by name. */
  readonly params: Readonly<Record<string, Json>>;
  readonly assignees: readonly Person[];
  readonly createdAt: Date;
  /** When the task gives up waiting, or takes the defaults. */
  readonly expiresAt: Date | null;
  readonly respondedAt: Date | null;
  readonly respondedBy: Person | null;
  readonly chosenOptions: readonly string[] | null;
  readonly paramsInput: Readonly<Record<string, Json>>;
}

export interface QuestionFilter extends PageRequest {
  /** `~` or undefined: of every DAG. */
  readonly dagId?: string | undefined;
  readonly runId?: string | undefined;
  readonly taskId?: string | undefined;
  readonly mapIndex?: number | undefined;
  readonly tryNumber?: number | undefined;
  /** Those of attempts that have ended otherwise meanwhile are neither. */
  readonly isAnswered?: boolean | undefined;
  /** Of the newest attempts only. Default: of earlier ones as well. */
  readonly isCurrent?: boolean | undefined;
  readonly createdAt?: TimeRange | undefined;
  readonly orderBy?: readonly string[] | undefined;
}

const SORT = {
  created_at: "h.created_at",
  responded_at: "h.responded_at",
  subject: "h.subject",
  dag_id: "a.dag_id",
  run_id: "a.run_id",
  task_id: "a.task_id",
};

const COLUMNS = `h.ti_id, a.dag_id, a.run_id, a.task_id, a.map_index, a.try_number, a.state, h.subject, h.body, h.options,
  h.defaults, h.multiple, h.params, h.assignees, h.created_at, a.expires_at, h.responded_at, h.responded_by, h.chosen_options,
  h.params_input`;

// An attempt is the task instance's own, or one that it had before.
const ATTEMPTS = `(
  select id, dag_id, run_id, task_id, map_index, try_number, coalesce(state, 'none') as state, true as is_current,
    case when state = 'deferred' then trigger_timeout end as expires_at from task_instance
  union all
  select task_instance_id, dag_id, run_id, task_id, map_index, try_number, state, false, null from task_instance_history
) a`;

export async function listQuestions(db: Reader, filter: QuestionFilter): Promise<Page<QuestionRow>> {
  const { dagId, runId, taskId, mapIndex, tryNumber, isAnswered, isCurrent } = filter;
  const query: Query = sql.from({ h: "hitl_detail" });
  void query.joinRaw(`join ${ATTEMPTS} on a.id = h.ti_id`);
  if (dagId !== undefined && dagId !== "~") void query.where("a.dag_id", dagId);
  if (runId !== undefined && runId !== "~") void query.where("a.run_id", runId);
  if (taskId !== undefined) void query.where("a.task_id", taskId);
  if (mapIndex !== undefined) void query.where("a.map_index", mapIndex);
  if (tryNumber !== undefined) void query.where("a.try_number", tryNumber);
  if (isCurrent !== undefined) void query.where("a.is_current", isCurrent);
  if (isAnswered === true) void query.whereNotNull("h.responded_at");
  if (isAnswered === false) void query.whereNull("h.responded_at").where("a.state", "deferred");
  within(query, "h.created_at", filter.createdAt);
  return await readPage<QuestionRow>(
    db,
    query,
    { columns: COLUMNS, order: orderBy(SORT, filter.orderBy ?? ["-created_at"], "h.ti_id") },
    filter,
  );
}
