import { defineStatement } from "../statement.ts";

export const readVariable = defineStatement<readonly [key: string], { readonly val: string }>({
  name: "read-variable",
  sql: `select val from variable where key = $1`,
});

export const writeVariable = defineStatement<readonly [key: string, val: string, description: string | null], never>({
  name: "write-variable",
  sql: `
insert into variable (key, val, description) values ($1, $2, $3)
on conflict (key) do update set val = excluded.val, description = coalesce(excluded.description, variable.description)`,
});

export const deleteVariable = defineStatement<readonly [key: string], never>({
  name: "delete-variable",
  sql: `delete from variable where key = $1`,
});
