// Asks the worker that has an attempt to stop it: running → restarting for a clear, → shutdown for a mark or a stop. The
// state that a shutdown is to end in is kept as its mark, and so is whether that end runs callbacks. Given again with another wish, the last one counts.
import { defineStatement } from "../statement.ts";
import { stateOf } from "./found-by-id.ts";

export type StopParams = readonly [
  ids: readonly string[],
  /** `restarting` or `shutdown`. */
  to: readonly string[],
  /** What a shutdown ends in: failed, success or skipped; null for a restart. */
  marks: readonly (string | null)[],
  reasons: readonly string[],
];

export const stopAttempts = defineStatement<StopParams, { readonly id: string }>({
  name: "stop-attempts",
  transitions: ["running>restarting", "running>shutdown", "restarting>shutdown", "shutdown>restarting"],
  sql: `
with wanted as (
  select ti.id, s.to_state, s.mark, s.reason
  from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) as s(id, to_state, mark, reason)
  join task_instance ti on ti.id = s.id and ${stateOf("ti")} in ('running', 'restarting', 'shutdown')
  order by ti.id
  for update of ti
)
update task_instance ti set
  epoch = ti.epoch + (ti.state <> w.to_state)::int,
  state = w.to_state, mark = w.mark, callbacks_wanted = current_setting('millrace.run_callbacks', true) is distinct from 'off',
  state_reason = left(w.reason, 1000), updated_at = now()
from wanted w where ti.id = w.id
returning ti.id`,
});
