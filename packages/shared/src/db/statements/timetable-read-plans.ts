// The plans of custom schedules of these dags. Read by whoever holds the dag rows.
import type { Interval, PlannedRun } from "../../model/index.ts";
import { defineStatement } from "../statement.ts";

export interface PlanRow {
  readonly dagId: string;
  readonly runs: readonly PlannedRun[];
  readonly manual: readonly { readonly at: number; readonly interval: Interval }[];
  readonly ended: boolean;
  readonly askedUntil: Date | null;
}

export const readTimetablePlans = defineStatement<readonly [dagIds: readonly string[]], PlanRow>({
  name: "timetable-read-plans",
  sql: `select dag_id as "dagId", runs, manual, ended, asked_until as "askedUntil" from timetable_plan where dag_id = any ($1)`,
});
