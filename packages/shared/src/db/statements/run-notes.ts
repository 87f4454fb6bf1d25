// What people and tasks write beside a run.
import { defineStatement } from "../statement.ts";

export const writeRunNote = defineStatement<readonly [dagRunId: number, content: string, user: string | null], never>({
  name: "write-run-note",
  sql: `
insert into dag_run_note (dag_run_id, user_id, content) values ($1, $3, left($2, 1000))
on conflict (dag_run_id) do update set content = excluded.content, user_id = excluded.user_id, updated_at = now()`,
});

export const deleteRunNote = defineStatement<readonly [dagRunId: number], never>({
  name: "delete-run-note",
  sql: `delete from dag_run_note where dag_run_id = $1`,
});
