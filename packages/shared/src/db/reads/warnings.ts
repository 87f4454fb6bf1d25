import { orderBy, type SortKeys } from "./filters.ts";
import { readPage, sql, type Page, type PageRequest, type Reader } from "./query.ts";

/** What is doubtful about a DAG that runs all the same: Airflow's dag_warning. */
export interface DagWarningRow {
  readonly dagId: string;
  readonly dagDisplayName: string | null;
  readonly warningType: string;
  readonly message: string;
  readonly timestamp: Date;
}

export interface DagWarningFilter extends PageRequest {
  readonly dagId?: string | undefined;
  readonly warningType?: string | undefined;
  readonly orderBy?: readonly string[] | undefined;
}

const SORT: SortKeys = {
  dag_id: "w.dag_id",
  warning_type: "w.warning_type",
  message: "w.message",
  timestamp: "w.timestamp",
};

/** Those of DAGs that are in the folder. */
export async function listDagWarnings(db: Reader, filter: DagWarningFilter = {}): Promise<Page<DagWarningRow>> {
  const query = sql.from({ w: "dag_warning" }).join({ d: "dag" }, "d.dag_id", "w.dag_id").where("d.is_stale", false);
  if (filter.dagId !== undefined) void query.where("w.dag_id", filter.dagId);
  if (filter.warningType !== undefined) void query.where("w.warning_type", filter.warningType);
  const order = orderBy(SORT, filter.orderBy ?? ["dag_id", "warning_type"], "w.dag_id");
  return await readPage<DagWarningRow>(db, query, { columns: "w.*, d.dag_display_name", order }, filter);
}
