import { AppError } from "../../errors/index.ts";
import type { RunState, RunType } from "../../model/index.ts";
import type { Queryable } from "../database.ts";
import { fromRows } from "../rows.ts";
import { defineStatement } from "../statement.ts";
import { matchPattern, oneOf, orderBy, within, type TimeRange } from "./filters.ts";
import { readPage, sql, type Page, type PageRequest, type Query, type Reader } from "./query.ts";

export interface RunRow {
  readonly id: number;
  readonly dagId: string;
  readonly runId: string;
  readonly runType: RunType;
  readonly state: RunState;
  readonly logicalDate: Date | null;
  readonly dataIntervalStart: Date | null;
  readonly dataIntervalEnd: Date | null;
  readonly runAfter: Date;
  readonly queuedAt: Date | null;
  readonly startDate: Date | null;
  readonly endDate: Date | null;
  /** Seconds from start to end, null while it is not finished. */
  readonly duration: number | null;
  readonly lastSchedulingDecision: Date | null;
  readonly updatedAt: Date | null;
  readonly triggeredBy: string | null;
  readonly triggeringUserName: string | null;
  readonly conf: Readonly<Record<string, unknown>>;
  readonly clearNumber: number;
  readonly bundleVersion: string | null;
  readonly partitionKey: string | null;
  readonly createdDagVersionId: string | null;
  readonly versionNumber: number | null;
  readonly versionCreatedAt: Date | null;
  readonly dagDisplayName: string;
  /** What a person or a task wrote beside it. */
  readonly note: string | null;
}

export interface RunFilter extends PageRequest {
  readonly state?: readonly string[] | undefined;
  readonly runType?: readonly string[] | undefined;
  readonly dagIdPattern?: string | undefined;
  readonly runIdPattern?: string | undefined;
  readonly runAfter?: TimeRange | undefined;
  readonly logicalDate?: TimeRange | undefined;
  readonly startDate?: TimeRange | undefined;
  readonly endDate?: TimeRange | undefined;
  readonly updatedAt?: TimeRange | undefined;
  /** `id`, `state`, `dag_id`, `run_id`, `run_after`, `logical_date`, `start_date`, `end_date`, `updated_at`, `duration`. */
  readonly orderBy?: readonly string[] | undefined;
}

const DURATION = "extract(epoch from r.end_date - r.start_date)::float8";
const SORT = {
  id: "r.id",
  state: "r.state",
  dag_id: "r.dag_id",
  run_id: "r.run_id",
  dag_run_id: "r.run_id",
  run_after: "r.run_after",
  logical_date: "r.logical_date",
  start_date: "r.start_date",
  end_date: "r.end_date",
  updated_at: "r.updated_at",
  conf: "r.conf",
  duration: DURATION,
};
// One by one: a prepared statement fails when a migration adds to what `*` stands for.
const COLUMNS = `r.id, r.dag_id, r.run_id, r.run_type, r.state, r.logical_date, r.data_interval_start, r.data_interval_end, r.run_after,
  r.queued_at, r.start_date, r.end_date, r.last_scheduling_decision, r.updated_at, r.triggered_by, r.triggering_user_name, r.conf,
  r.clear_number, r.bundle_version, r.partition_key, r.created_dag_version_id, ${DURATION} as duration, v.version_number, v.created_at as version_created_at,
  coalesce(d.dag_display_name, r.dag_id) as dag_display_name,
  (select n.content from dag_run_note n where n.dag_run_id = r.id) as note`;

const NAMES = "left join dag d on d.dag_id = r.dag_id left join dag_version v on v.id = r.created_dag_version_id";
const withNames = (query: Query): Query => query.joinRaw(NAMES);

/** @param dagId `~` for the runs of all DAGs */
export async function listRuns(db: Reader, dagId: string, filter: RunFilter = {}): Promise<Page<RunRow>> {
  const query = sql.from({ r: "dag_run" });
  if (dagId !== "~") void query.where("r.dag_id", dagId);
  oneOf(query, "r.state", filter.state);
  oneOf(query, "r.run_type", filter.runType);
  matchPattern(query, "r.dag_id", filter.dagIdPattern);
  matchPattern(query, "r.run_id", filter.runIdPattern);
  within(query, "r.run_after", filter.runAfter);
  within(query, "r.logical_date", filter.logicalDate);
  within(query, "r.start_date", filter.startDate);
  within(query, "r.end_date", filter.endDate);
  within(query, "r.updated_at", filter.updatedAt);
  return await readPage<RunRow>(
    db,
    query,
    { columns: COLUMNS, order: orderBy(SORT, filter.orderBy ?? ["id"], "r.id"), joins: withNames },
    filter,
  );
}

const readRun = defineStatement<readonly [dagId: string, runId: string], Readonly<Record<string, unknown>>>({
  name: "read-run",
  sql: `select ${COLUMNS} from dag_run r ${NAMES} where r.dag_id = $1 and r.run_id = $2`,
});

/**
 * Prepared, unlike the lists: each trigger asks for it, and to plan it takes three times as long as to carry it out.
 * @throws AppError RUN_NOT_FOUND
 */
export async function getRun(db: Queryable, dagId: string, runId: string): Promise<RunRow> {
  const [run] = fromRows<RunRow>(await db.run(readRun, [dagId, runId]));
  if (run === undefined) throw new AppError("RUN_NOT_FOUND", { dagId, runId });
  return run;
}
