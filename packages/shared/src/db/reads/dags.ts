import { AppError } from "../../errors/index.ts";
import type { RunState } from "../../model/index.ts";
import { fromRows } from "../rows.ts";
import { matchPattern, orderBy, type SortKeys } from "./filters.ts";
import { readPage, readRows, sql, type Page, type PageRequest, type Query, type Reader } from "./query.ts";

export interface DagRow {
  readonly dagId: string;
  readonly dagDisplayName: string | null;
  readonly description: string | null;
  readonly isPaused: boolean;
  readonly isStale: boolean;
  readonly hasImportErrors: boolean;
  readonly fileloc: string | null;
  readonly relativeFileloc: string | null;
  readonly bundleName: string;
  readonly bundleVersion: string | null;
  readonly owners: readonly string[];
  readonly tags: readonly string[];
  readonly timetableType: string;
  readonly timetableSummary: string | null;
  readonly timetableDescription: string | null;
  readonly maxActiveTasks: number;
  readonly maxActiveRuns: number;
  readonly maxConsecutiveFailedDagRuns: number;
  readonly hasTaskConcurrencyLimits: boolean;
  readonly lastParsedTime: Date | null;
  /** Seconds. */
  readonly lastParseDuration: number | null;
  /** Logical date of the next run. */
  readonly nextDagrun: Date | null;
  readonly nextDagrunDataIntervalStart: Date | null;
  readonly nextDagrunDataIntervalEnd: Date | null;
  readonly nextDagrunCreateAfter: Date | null;
  readonly lastRunId: string | null;
  readonly lastRunState: RunState | null;
  readonly lastRunStartDate: Date | null;
}

export interface DagFilter extends PageRequest {
  readonly dagIdPattern?: string | undefined;
  readonly dagDisplayNamePattern?: string | undefined;
  readonly paused?: boolean | undefined;
  readonly hasImportErrors?: boolean | undefined;
  readonly tags?: readonly string[] | undefined;
  /** @default "any" */
  readonly tagsMatchMode?: "any" | "all" | undefined;
  readonly owners?: readonly string[] | undefined;
  /** Those no longer in the folder. @default true */
  readonly excludeStale?: boolean | undefined;
  readonly lastDagRunState?: RunState | undefined;
  /** `dag_id`, `dag_display_name`, `next_dagrun`, `last_run_state`, `last_run_start_date`; `-` before one descends. */
  readonly orderBy?: readonly string[] | undefined;
}

const SORT: SortKeys = {
  dag_id: "d.dag_id",
  dag_display_name: "coalesce(d.dag_display_name, d.dag_id)",
  next_dagrun: "d.next_dagrun",
  state: "l.state",
  last_run_state: "l.state",
  start_date: "l.start_date",
  last_run_start_date: "l.start_date",
};

// `owners` is stored as one text, as Airflow does.
const COLUMNS = `d.*,
  coalesce((select array_agg(t.name order by t.name) from dag_tag t where t.dag_id = d.dag_id), '{}') as tags,
  coalesce(string_to_array(nullif(d.owners, ''), ', '), '{}') as owners,
  l.run_id as last_run_id, l.state as last_run_state, l.start_date as last_run_start_date`;

const withLastRun = (query: Query): Query =>
  query.joinRaw(`left join lateral (
    select r.run_id, r.state, r.start_date from dag_run r where r.dag_id = d.dag_id
    order by r.run_after desc, r.id desc limit 1) l on true`);

export async function listDags(db: Reader, filter: DagFilter = {}): Promise<Page<DagRow>> {
  const query = sql.from({ d: "dag" });
  matchPattern(query, "d.dag_id", filter.dagIdPattern);
  matchPattern(query, "d.dag_display_name", filter.dagDisplayNamePattern);
  if (filter.paused !== undefined) void query.where("d.is_paused", filter.paused);
  if (filter.hasImportErrors !== undefined) void query.where("d.has_import_errors", filter.hasImportErrors);
  if (filter.excludeStale !== false) void query.where("d.is_stale", false);
  if (filter.tags !== undefined && filter.tags.length > 0) {
    const tags = [...new Set(filter.tags)];
    void query.whereRaw(`(select count(*) from dag_tag t where t.dag_id = d.dag_id and t.name = any (?)) >= ?`, [
      tags,
      filter.tagsMatchMode === "all" ? tags.length : 1,
    ]);
  }
  if (filter.owners !== undefined && filter.owners.length > 0) {
    void query.whereRaw("string_to_array(d.owners, ', ') && ?::text[]", [[...filter.owners]]);
  }
  if (filter.lastDagRunState !== undefined) {
    void query.whereRaw(
      `(select r.state from dag_run r where r.dag_id = d.dag_id order by r.run_after desc, r.id desc limit 1) = ?`,
      [filter.lastDagRunState],
    );
  }
  const keys = filter.orderBy ?? ["dag_id"];
  const order = orderBy(SORT, keys, "d.dag_id");
  const byLastRun = keys.some((key) => SORT[key.replace(/^-/, "")]?.startsWith("l."));
  return await readPage<DagRow>(
    db,
    query,
    {
      columns: COLUMNS,
      order,
      joins: withLastRun,
      pageFirst: byLastRun ? undefined : "d",
    },
    filter,
  );
}

/** @throws AppError DAG_NOT_FOUND */
export async function getDag(db: Reader, dagId: string): Promise<DagRow> {
  const query = withLastRun(sql.from({ d: "dag" }).where("d.dag_id", dagId));
  const [dag] = await readRows<DagRow>(db, query.select(sql.raw(COLUMNS)));
  if (dag === undefined) throw new AppError("DAG_NOT_FOUND", { dagId });
  return dag;
}

export interface RecentRun {
  readonly dagId: string;
  readonly runId: string;
  readonly state: RunState;
  readonly runAfter: Date;
  readonly startDate: Date | null;
  readonly endDate: Date | null;
}

/** The newest runs of each of these DAGs, newest first. */
export async function listRecentRuns(db: Reader, dagIds: readonly string[], perDag: number): Promise<RecentRun[]> {
  const rows = await db.read<Record<string, unknown>>(
    `select r.* from unnest($1::text[]) as d(dag_id)
     cross join lateral (
       select r.dag_id, r.run_id, r.state, r.run_after, r.start_date, r.end_date from dag_run r
       where r.dag_id = d.dag_id collate "C" order by r.run_after desc, r.id desc limit $2) r`,
    [dagIds, perDag],
  );
  return fromRows<RecentRun>(rows);
}
