// A worker says that the callbacks it runs live. One that is not given back is another worker's by now. Parallel arrays.
import { defineStatement } from "../statement.ts";

export const extendCallbacks = defineStatement<
  readonly [ids: readonly string[], attempts: readonly number[], workerJobId: number, leaseSeconds: number],
  { readonly id: string }
>({
  name: "extend-callbacks",
  sql: `
update callback c set lease_until = now() + make_interval(secs => $4)
from unnest($1::uuid[], $2::int[]) as h(id, attempts)
where c.id = h.id and c.attempts = h.attempts and c.worker_job_id = $3 and c.state = 'running'
returning c.id`,
});
