// Triggers that no task instance waits for and that watch no asset: their run was deleted. A trigger and the wait for it appear in one statement,
// so one without is never about to get one; the age is for clocks of people who insert rows by hand. Locks: the rows;
// those that are being claimed or fired are skipped.
import { defineStatement } from "../statement.ts";

export const dropOrphanTriggers = defineStatement<
  readonly [ageSeconds: number, limit: number],
  { readonly id: number }
>({
  name: "drop-orphan-triggers",
  sql: `
with orphans as (
  select t.id from trigger t
  where t.created_date < now() - make_interval(secs => $1)
    and not exists (select from task_instance ti where ti.trigger_id = t.id)
    and not exists (select from asset_watcher w where w.trigger_id = t.id)
  limit $2
  for update skip locked
)
delete from trigger t using orphans o where t.id = o.id
returning t.id`,
});
