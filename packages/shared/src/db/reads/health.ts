// Which processes are heard of. One row a kind: of those running the freshest, as monitors expect it.
import { fromRows } from "../rows.ts";
import type { JobType } from "../job.ts";
import type { Reader } from "./query.ts";

export interface ProcessHealth {
  readonly jobType: JobType;
  readonly latestHeartbeat: Date | null;
  /** Seconds since then, by the database's clock. */
  readonly silentSeconds: number;
  readonly state: string | null;
}

/** No row for a kind that never ran. */
export async function readHealth(db: Reader): Promise<ProcessHealth[]> {
  return fromRows<ProcessHealth>(
    await db.read<Record<string, unknown>>(
      `select distinct on (job_type) job_type, latest_heartbeat, state,
         extract(epoch from now() - latest_heartbeat)::float8 as silent_seconds
       from job order by job_type, (state = 'running') desc nulls last, latest_heartbeat desc nulls last`,
    ),
  );
}
