// Connections as they stand: password and extra plain, or ciphertexts that only shared/src/secrets reads and writes.
import { defineStatement } from "../statement.ts";

export interface ConnectionRow {
  readonly id: number;
  readonly connectionId: string;
  readonly connType: string;
  readonly description: string | null;
  readonly host: string | null;
  readonly schema: string | null;
  readonly login: string | null;
  readonly password: string | null;
  readonly port: number | null;
  readonly extra: string | null;
  readonly isEncrypted: boolean;
  readonly isExtraEncrypted: boolean;
}

const COLUMNS = `id, conn_id as "connectionId", conn_type as "connType", description, host, schema, login, password, port, extra,
  is_encrypted as "isEncrypted", is_extra_encrypted as "isExtraEncrypted"`;

export const readConnectionRow = defineStatement<readonly [connectionId: string], ConnectionRow>({
  name: "read-connection",
  sql: `select ${COLUMNS} from connection where conn_id = $1`,
});

export const readConnectionRows = defineStatement<readonly [], ConnectionRow>({
  name: "read-connections",
  sql: `select ${COLUMNS} from connection order by conn_id`,
});

type Written = readonly [
  connectionId: string,
  connType: string,
  description: string | null,
  host: string | null,
  schema: string | null,
  login: string | null,
  password: string | null,
  port: number | null,
  extra: string | null,
  isEncrypted: boolean,
  isExtraEncrypted: boolean,
];

const INSERT = `
insert into connection (conn_id, conn_type, description, host, schema, login, password, port, extra, is_encrypted, is_extra_encrypted)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
on conflict (conn_id) do`;

export const writeConnectionRow = defineStatement<Written, { readonly isNew: boolean }>({
  name: "write-connection",
  sql: `${INSERT} update set conn_type = excluded.conn_type, description = excluded.description, host = excluded.host,
  schema = excluded.schema, login = excluded.login, password = excluded.password, port = excluded.port,
  extra = excluded.extra, is_encrypted = excluded.is_encrypted, is_extra_encrypted = excluded.is_extra_encrypted
returning xmax = 0 as "isNew"`,
});

/** No row when there is one already. */
export const addConnectionRow = defineStatement<Written, { readonly isNew: true }>({
  name: "add-connection",
  sql: `${INSERT} nothing returning true as "isNew"`,
});

export const deleteConnectionRow = defineStatement<readonly [connectionId: string], { readonly connectionId: string }>({
  name: "delete-connection",
  sql: `delete from connection where conn_id = $1 returning conn_id as "connectionId"`,
});

/** The rows after an id, kept from others until the transaction ends. Locks: connection, by id. */
export const lockConnectionsAfter = defineStatement<readonly [id: number, atMost: number], ConnectionRow>({
  name: "lock-connections-after",
  sql: `select ${COLUMNS} from connection where id > $1 order by id limit $2 for update`,
});

/** A null leaves the column as it is. */
export const encryptConnections = defineStatement<
  readonly [ids: readonly number[], passwords: readonly (string | null)[], extras: readonly (string | null)[]],
  never
>({
  name: "encrypt-connections",
  sql: `
update connection c set
  password = coalesce(n.password, c.password), is_encrypted = c.is_encrypted or n.password is not null,
  extra = coalesce(n.extra, c.extra), is_extra_encrypted = c.is_extra_encrypted or n.extra is not null
from unnest($1::int[], $2::text[], $3::text[]) as n(id, password, extra) where c.id = n.id`,
});
