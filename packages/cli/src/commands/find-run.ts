import type { RunRow } from "@millrace/shared/db";
import type { DatabaseWork } from "../actions.ts";

/**
 * The run of a DAG by its run id, or the newest one with a logical date.
 * @throws AppError DAG_NOT_FOUND or RUN_NOT_FOUND
 */
export async function findRun({ db }: Pick<DatabaseWork, "db">, dagId: string, runIdOrDate: string): Promise<RunRow> {
  const { getDag, getRun, listRuns } = await import("@millrace/shared/db");
  await getDag(db, dagId);
  const date = /^\d{4}-\d\d-\d\d/.test(runIdOrDate) ? new Date(runIdOrDate) : undefined;
  if (date !== undefined && !Number.isNaN(date.getTime())) {
    const { items } = await listRuns(db, dagId, { logicalDate: { gte: date, lte: date }, orderBy: ["-id"], limit: 1 });
    if (items[0] !== undefined) return items[0];
  }
  return await getRun(db, dagId, runIdOrDate);
}
