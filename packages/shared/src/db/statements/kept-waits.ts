// task_instance.next_kwargs: what a task instance that has waited goes on with, each part as JSON or, under `sealed_…`, as a
// ciphertext that only shared/src/secrets reads and writes.
import { defineStatement } from "../statement.ts";

export const KEPT_PARTS = ["state", "event"] as const;

/** `state`: what the task kept for itself. `event`: what ended the wait. */
export type KeptPart = (typeof KEPT_PARTS)[number];

export interface KeptWait {
  readonly state?: unknown;
  readonly event?: unknown;
  readonly sealed_state?: string;
  readonly sealed_event?: string;
  /** Pokes that gave the slot back. */
  readonly reschedules?: number;
}

/** `next_kwargs` without these parts. */
export const withoutKept = (column: string, ...parts: readonly KeptPart[]): string =>
  `coalesce(${column}, '{}') - array[${parts.flatMap((part) => [`'${part}'`, `'sealed_${part}'`]).join(", ")}]`;

/** An object with one part. `text` is JSON or a ciphertext, which begins as no JSON does. */
export const kept = (part: KeptPart, text: string): string =>
  `case when ${text} like 'v%' then jsonb_build_object('sealed_${part}', ${text}) else jsonb_build_object('${part}', ${text}::jsonb) end`;

export interface KeptWaitRow {
  readonly id: string;
  readonly dagRunId: number;
  readonly taskId: string;
  readonly mapIndex: number;
  readonly wait: KeptWait;
}

/** Those after an id, kept from others until the transaction ends. Locks: task_instance, by id. */
export const lockKeptWaitsAfter = defineStatement<readonly [id: string, atMost: number], KeptWaitRow>({
  name: "lock-kept-waits-after",
  sql: `
select id, dag_run_id as "dagRunId", task_id as "taskId", map_index as "mapIndex", next_kwargs as wait
from task_instance where id > $1 and next_kwargs is not null order by id limit $2 for no key update`,
});

/** The caller holds the rows. */
export const encryptKeptWaits = defineStatement<readonly [ids: readonly string[], waits: readonly string[]], never>({
  name: "encrypt-kept-waits",
  sql: `
update task_instance ti set next_kwargs = n.wait::jsonb
from unnest($1::uuid[], $2::text[]) as n(id, wait) where ti.id = n.id`,
});

/** Which task instances wait for these triggers. */
export const placesOfWaits = defineStatement<
  readonly [triggerIds: readonly number[]],
  { readonly triggerId: number; readonly dagRunId: number; readonly taskId: string; readonly mapIndex: number }
>({
  name: "places-of-waits",
  sql: `
select trigger_id as "triggerId", dag_run_id as "dagRunId", task_id as "taskId", map_index as "mapIndex"
from task_instance where trigger_id = any ($1::int[]) and state = 'deferred'`,
});
