// The scheduled and backfill runs of given logical dates: there is one at most. Index: dag_run_dag_id_logical_date_uq.
import type { RunState } from "../../model/index.ts";
import { defineStatement } from "../statement.ts";

export interface RunOfDate {
  readonly id: number;
  readonly runId: string;
  readonly state: RunState;
  readonly versionId: string | null;
  readonly logicalDate: Date;
}

/**
 * Runs `r` that the schedule made, also those that a backfill has run again since. What a backfill made itself is not the
 * schedule's: intervals before it may still be owed, and the date itself has its run when the schedule comes to it.
 */
export const OF_SCHEDULE = `(r.run_type = 'scheduled' or (r.run_type = 'backfill' and r.run_id like 'scheduled\\_\\_%'))`;

type Params = readonly [dagId: string, logicalDates: readonly Date[]];

const SELECT = `
select id, run_id as "runId", state, created_dag_version_id as "versionId", logical_date as "logicalDate"
from dag_run
where dag_id = $1 and logical_date = any ($2::timestamptz[]) and run_type in ('scheduled', 'backfill')`;

export const runsOfDates = defineStatement<Params, RunOfDate>({ name: "runs-of-dates", sql: SELECT });

/** Locks the runs, in the order of their ids: what is decided of them is true until the end of the transaction. */
export const lockRunsOfDates = defineStatement<Params, RunOfDate>({
  name: "lock-runs-of-dates",
  sql: `${SELECT}
order by id
for no key update`,
});

/** Of these ids, those that some run has: of another date, from before a schedule was changed. */
export const takenRunIds = defineStatement<
  readonly [dagId: string, runIds: readonly string[]],
  { readonly runId: string }
>({
  name: "taken-run-ids",
  sql: `select run_id as "runId" from dag_run where dag_id = $1 and run_id = any ($2::text[])`,
});
