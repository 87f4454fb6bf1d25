// What changes in the rest of this transaction calls nobody back.
import { defineStatement } from "../statement.ts";

export const withoutCallbacks = defineStatement<readonly [], never>({
  name: "without-callbacks",
  sql: `select set_config('millrace.run_callbacks', 'off', true)`,
});
