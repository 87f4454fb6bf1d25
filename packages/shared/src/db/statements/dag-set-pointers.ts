// Writes which run of each dag is due next. Parameters are parallel arrays, one entry a dag; nulls: none.
// Locks: the dag rows, which the caller holds already.
import { defineStatement } from "../statement.ts";

export const setPointers = defineStatement<
  readonly [
    dagIds: readonly string[],
    logicalDates: readonly (Date | null)[],
    intervalStarts: readonly (Date | null)[],
    intervalEnds: readonly (Date | null)[],
    runAfters: readonly (Date | null)[],
  ],
  never
>({
  name: "dag-set-pointers",
  sql: `
update dag d set next_dagrun = p.logical_date, next_dagrun_data_interval_start = p.interval_start,
  next_dagrun_data_interval_end = p.interval_end, next_dagrun_create_after = p.run_after
from unnest($1::text[], $2::timestamptz[], $3::timestamptz[], $4::timestamptz[], $5::timestamptz[])
  as p(dag_id, logical_date, interval_start, interval_end, run_after)
where d.dag_id = p.dag_id`,
});
