export { CommitUnknownError, Database, type DatabaseOptions, type Queryable } from "./database.ts";
export { migrate, requireSchema, type MigrateResult } from "./migrate.ts";
export { newId } from "./new-id.ts";
export { allStatements, defineStatement, type Statement } from "./statement.ts";
