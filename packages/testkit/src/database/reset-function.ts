// Made once in the template, so that each copy has it: testkit.reset() brings a database back to its first
// state. Deleting beats truncating by far on small tables, because truncate makes new files.

/**
 * Rows that the migrations put in (a default pool, say) are kept in testkit.seed_N and put back.
 * Triggers and foreign keys are off while resetting: the state guards must not judge it, and no order of
 * tables is needed. Identity columns start again, so that ids in failure messages are the same each time.
 */
export const RESET_FUNCTION = `
create schema testkit;

do $make$
declare
  tables constant text[] := array(
    select format('%I.%I', schemaname, tablename) from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema', 'testkit') and tablename not like '%migration%'
    order by 1);
  body text := '';
  has_rows boolean;
begin
  for i in 1 .. coalesce(array_length(tables, 1), 0) loop
    body := body || format('delete from %s;', tables[i]);
  end loop;
  for i in 1 .. coalesce(array_length(tables, 1), 0) loop
    execute format('select exists (select from %s)', tables[i]) into has_rows;
    if has_rows then
      execute format('create table testkit.seed_%s as table %s', i, tables[i]);
      body := body || format('insert into %s overriding system value table testkit.seed_%s;', tables[i], i);
    end if;
  end loop;
  select body || coalesce(string_agg(format('perform setval(%L, %s, false);', s.seqrelid::regclass, s.next), ''), '')
  into body
  from (
    select seqrelid, coalesce(pg_sequence_last_value(seqrelid) + 1, seqstart) as next from pg_sequence
    where seqrelid::regclass::text not like '%migration%'
  ) s;
  execute format(
    'create function testkit.reset() returns void language plpgsql set session_replication_role = replica as %L',
    'begin ' || body || ' end');
end
$make$;
`;
