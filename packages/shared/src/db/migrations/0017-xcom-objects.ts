// Objects of the object store that hold large values of XComs (shared/src/xcoms). The row of the XCom holds
// {"$millrace": "stored", "key": …, "bytes": …, "sha256": …}; the triggers follow it, whoever writes or deletes XComs.
import type { Knex } from "knex";

export const name = "0017-xcom-objects";

const isStored = (row: string): string => `${row}.value ->> '$millrace' = 'stored'`;

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
create table xcom_object (
  key varchar(1024) collate "C" primary key,
  created_at timestamptz not null default now(),
  -- When it may go; null while an XCom has it.
  due_at timestamptz default now() + interval '1 day',
  is_claimed boolean not null default false
);
create index idx_xcom_object_due_at on xcom_object (due_at) where due_at is not null;

create function millrace_take_xcom_object() returns trigger language plpgsql as $$
begin
  update xcom_object set due_at = null where key = new.value ->> 'key' and not is_claimed;
  if not found then
    raise exception 'the object % of XCom % of task % is not kept any more', new.value ->> 'key', new.key, new.task_id;
  end if;
  return null;
end $$;
create function millrace_leave_xcom_object() returns trigger language plpgsql as $$
begin
  update xcom_object set due_at = now() + interval '1 hour' where key = old.value ->> 'key' and due_at is null;
  return null;
end $$;
create trigger take_object_of_new after insert on xcom for each row
  when (${isStored("new")}) execute function millrace_take_xcom_object();
create trigger leave_object_of_changed after update on xcom for each row
  when (${isStored("old")} and old.value is distinct from new.value) execute function millrace_leave_xcom_object();
create trigger take_object_of_changed after update on xcom for each row
  when (${isStored("new")} and old.value is distinct from new.value) execute function millrace_take_xcom_object();
create trigger leave_object after delete on xcom for each row
  when (${isStored("old")}) execute function millrace_leave_xcom_object();`);
}
