// running → success or failed for a callback that this worker still has, or → pending when a stopping worker hands it
// back: that counts as no attempt.
import { defineStatement } from "../statement.ts";

export const finishCallback = defineStatement<
  readonly [
    id: string,
    attempts: number,
    workerJobId: number,
    state: "success" | "failed" | "pending",
    output: string | null,
  ],
  { readonly id: string }
>({
  name: "finish-callback",
  sql: `
update callback set state = $4::text, output = $5, lease_until = null, attempts = attempts - ($4::text = 'pending')::int
where id = $1 and attempts = $2 and worker_job_id = $3 and state = 'running'
returning id`,
});
