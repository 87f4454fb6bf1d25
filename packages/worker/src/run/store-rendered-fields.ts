import type { Json } from "@millrace/sdk/spec";
import type { Config } from "@millrace/shared/config";
import { dropOldRenderedFields, putRenderedFields, type ClaimedAttempt, type Database } from "@millrace/shared/db";
import type { Redactor } from "@millrace/shared/secrets";

export interface StoreOptions {
  readonly config: Pick<Config, "core">;
  readonly redactor: Pick<Redactor, "redactValue">;
}

/**
 * Keeps what an attempt's template fields are for people to look at, and forgets those of old runs. A field that is too
 * long is cut.
 */
export async function storeRenderedFields(
  db: Database,
  attempt: Pick<ClaimedAttempt, "id" | "epoch" | "dagId" | "taskId">,
  fields: Readonly<Record<string, Json>>,
  { config, redactor }: StoreOptions,
): Promise<void> {
  const { max_templated_field_length: maxLength, num_dag_runs_to_retain_rendered_fields: keep } = config.core;
  const shown = Object.entries(fields).map(([name, value]): [string, Json] => [
    name,
    // Masked whole: half a secret would not be found.
    shorten(redactor.redactValue(value, name), maxLength),
  ]);
  // Postgres keeps no zero byte in a text.
  const json = JSON.stringify(Object.fromEntries(shown)).replaceAll("\\u0000", "\\\\u0000");
  const [written] = await db.run(putRenderedFields, [attempt.id, attempt.epoch, json]);
  if (written !== undefined && keep > 0) await db.run(dropOldRenderedFields, [attempt.dagId, attempt.taskId, keep]);
}

function shorten(value: Json, maxLength: number): Json {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length <= maxLength ? value : `Truncated. It has ${text.length} characters: ${text.slice(0, maxLength)}`;
}
