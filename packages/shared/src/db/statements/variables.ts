// Variables as they stand: plain, or a ciphertext that only shared/src/secrets reads and writes.
import { defineStatement } from "../statement.ts";

export interface VariableRow {
  readonly id: number;
  readonly key: string;
  readonly val: string;
  readonly description: string | null;
  readonly isEncrypted: boolean;
}

const COLUMNS = `id, key, val, description, is_encrypted as "isEncrypted"`;

export const readVariable = defineStatement<readonly [key: string], VariableRow>({
  name: "read-variable",
  sql: `select ${COLUMNS} from variable where key = $1`,
});

export const readVariables = defineStatement<readonly [], VariableRow>({
  name: "read-variables",
  sql: `select ${COLUMNS} from variable order by key`,
});

export const writeVariable = defineStatement<
  readonly [key: string, val: string, description: string | null, isEncrypted: boolean],
  { readonly isNew: boolean }
>({
  name: "write-variable",
  sql: `
insert into variable (key, val, description, is_encrypted) values ($1, $2, $3, $4)
on conflict (key) do update set val = excluded.val, is_encrypted = excluded.is_encrypted,
  description = coalesce(excluded.description, variable.description)
returning xmax = 0 as "isNew"`,
});

/** No row when there is one already. */
export const addVariable = defineStatement<
  readonly [key: string, val: string, description: string | null, isEncrypted: boolean],
  { readonly isNew: true }
>({
  name: "add-variable",
  sql: `
insert into variable (key, val, description, is_encrypted) values ($1, $2, $3, $4)
on conflict (key) do nothing returning true as "isNew"`,
});

export const deleteVariable = defineStatement<readonly [key: string], { readonly key: string }>({
  name: "delete-variable",
  sql: `delete from variable where key = $1 returning key`,
});

/** The rows after an id, kept from others until the transaction ends. Locks: variable, by id. */
export const lockVariablesAfter = defineStatement<readonly [id: number, atMost: number], VariableRow>({
  name: "lock-variables-after",
  sql: `select ${COLUMNS} from variable where id > $1 order by id limit $2 for update`,
});

export const encryptVariables = defineStatement<readonly [ids: readonly number[], vals: readonly string[]], never>({
  name: "encrypt-variables",
  sql: `
update variable v set val = n.val, is_encrypted = true
from unnest($1::int[], $2::text[]) as n(id, val) where v.id = n.id`,
});
