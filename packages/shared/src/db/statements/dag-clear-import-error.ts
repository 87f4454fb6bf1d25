// Forgets the error of a file that can be read again.
import { defineStatement } from "../statement.ts";

export const clearImportError = defineStatement<readonly [bundle: string, file: string], { readonly id: number }>({
  name: "dag-clear-import-error",
  sql: `delete from import_error where bundle_name = $1 and filename = $2 returning id`,
});
