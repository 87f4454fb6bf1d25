// Processes that were not heard of for longer than those of their kind may be silent have failed; one that comes back says
// so with its next heartbeat. Nobody is judged before the server has been up for as long: an outage silences everyone.
// Locks: the rows, skipping those that say at this moment that they live. Index: idx_job_state_heart.
import { defineStatement } from "../statement.ts";

export const retireSilentJobs = defineStatement<
  readonly [types: readonly string[], silentSeconds: readonly number[]],
  { readonly id: number; readonly jobType: string; readonly hostname: string | null; readonly silentSeconds: number }
>({
  name: "retire-silent-jobs",
  sql: `
with silent as (
  select j.id, extract(epoch from now() - j.latest_heartbeat)::float8 as seconds
  from job j join unnest($1::text[], $2::float8[]) as k(type, seconds) on k.type = j.job_type
  where j.state = 'running' and j.latest_heartbeat < now() - make_interval(secs => k.seconds)
    and pg_postmaster_start_time() < now() - make_interval(secs => k.seconds)
  for update of j skip locked
)
update job j set state = 'failed', end_date = now()
from silent where j.id = silent.id
returning j.id, j.job_type as "jobType", j.hostname, silent.seconds as "silentSeconds"`,
});
