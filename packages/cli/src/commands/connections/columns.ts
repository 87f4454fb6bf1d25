import type { Connection } from "@millrace/shared/secrets";
import type { Column } from "../../output/format.ts";

const HIDDEN = "***";

/** Secret parts are shown only when somebody asks for them. */
export const columns = <C extends Connection>(showSecrets: boolean): Column<C>[] => [
  { key: "conn_id", value: (row) => row.connectionId },
  { key: "conn_type", value: (row) => row.connType },
  { key: "host", value: (row) => row.host },
  { key: "schema", value: (row) => row.schema },
  { key: "login", value: (row) => row.login },
  { key: "password", value: (row) => (row.password === undefined || showSecrets ? row.password : HIDDEN) },
  { key: "port", value: (row) => row.port },
  { key: "extra", value: (row) => (row.extra === undefined || showSecrets ? row.extra : HIDDEN) },
  { key: "description", value: (row) => row.description },
];
