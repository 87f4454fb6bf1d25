import { AppError } from "../../errors/index.ts";
import { matchPattern, orderBy } from "./filters.ts";
import { getTaskInstance } from "./task-instances.ts";
import { readPage, readRows, sql, type Page, type PageRequest, type Query, type Reader } from "./query.ts";

export interface XComRow {
  readonly key: string;
  readonly dagId: string;
  readonly runId: string;
  readonly taskId: string;
  readonly mapIndex: number;
  readonly timestamp: Date;
  /** Of its JSON; some more than it takes as text. */
  readonly bytes: number;
  /** Whether it is in the object store. */
  readonly isStored: boolean;
  readonly logicalDate: Date | null;
  readonly runAfter: Date;
  readonly dagDisplayName: string;
}

export interface XComValueRow extends XComRow {
  /** Of one that is in the object store: what refers to it. */
  readonly value: unknown;
}

export interface XComFilter extends PageRequest {
  /** `~`: of all DAGs, and so on. */
  readonly dagId: string;
  readonly runId: string;
  readonly taskId: string;
  readonly mapIndex?: number | undefined;
  readonly key?: string | undefined;
  readonly keyPattern?: string | undefined;
}

const IS_STORED = `coalesce(x.value ->> '$millrace' = 'stored', false)`;
const COLUMNS = `x.key, x.dag_id, x.run_id, x.task_id, x.map_index, x.timestamp, ${IS_STORED} as is_stored,
  case when ${IS_STORED} then (x.value ->> 'bytes')::int8 else octet_length(x.value::text) end as bytes, r.logical_date, r.run_after,
  coalesce(d.dag_display_name, x.dag_id) as dag_display_name`;

const withNames = (query: Query): Query => query.joinRaw("left join dag d on d.dag_id = x.dag_id");

/** XComs are reached by their run, whose id leads their key. */
function xcoms(filter: XComFilter): Query {
  const query = sql.from({ x: "xcom" }).joinRaw("join dag_run r on r.id = x.dag_run_id");
  if (filter.dagId !== "~") void query.where("r.dag_id", filter.dagId);
  if (filter.runId !== "~") void query.where("r.run_id", filter.runId);
  if (filter.taskId !== "~") void query.where("x.task_id", filter.taskId);
  if (filter.mapIndex !== undefined) void query.where("x.map_index", filter.mapIndex);
  if (filter.key !== undefined) void query.where("x.key", filter.key);
  matchPattern(query, "x.key", filter.keyPattern);
  return query;
}

export async function listXComs(db: Reader, filter: XComFilter): Promise<Page<XComRow>> {
  const tie = "(x.dag_run_id, x.task_id, x.map_index, x.key)";
  return await readPage(db, xcoms(filter), { columns: COLUMNS, order: orderBy({}, [], tie), joins: withNames }, filter);
}

/** @throws AppError XCOM_NOT_FOUND; TASK_NOT_FOUND, naming the indexes that there are where one is needed */
export async function getXCom(
  db: Reader,
  key: {
    readonly dagId: string;
    readonly runId: string;
    readonly taskId: string;
    readonly mapIndex?: number;
    readonly key: string;
  },
): Promise<XComValueRow> {
  const query = withNames(xcoms({ ...key, mapIndex: key.mapIndex ?? -1 }));
  const [row] = await readRows<XComValueRow>(db, query.select(sql.raw(`${COLUMNS}, x.value`)));
  if (row !== undefined) return row;
  await getTaskInstance(db, key);
  throw new AppError("XCOM_NOT_FOUND", { dagId: key.dagId, taskId: key.taskId, key: key.key, runId: key.runId });
}
