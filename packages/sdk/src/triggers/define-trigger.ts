import type { JsonSafe, NotJsonSafe } from "../values/json-safe.ts";
import type { TaskEnd } from "./end-task.ts";
import { registerTrigger } from "./registry.ts";
import type { TriggerContext } from "./trigger-context.ts";
import { Trigger } from "./trigger.ts";

/** Names that a file cannot define: they mean the same in every installation. */
const RESERVED = ["millrace.", "sensor."];

const NAME = /^[\p{L}\p{N}_.-]{1,250}$/u;

/** The payload of the event that a `run` with this return type gives. One that gives nothing has the payload `null`. */
export type EventOfRun<R> = NothingIsNull<
  Exclude<R extends AsyncIterable<infer Yielded> ? Yielded : Awaited<R>, TaskEnd>
>;

type NothingIsNull<E> = E extends undefined | void ? null : E;

type EventCheck<R> = [EventOfRun<R>] extends [JsonSafe<EventOfRun<R>>] ? unknown : NotJsonSafe<EventOfRun<R>>;

/** A kind of trigger. See {@link defineTrigger}. */
export interface TriggerDefinition<K extends object, R> {
  /** Unique in the file; letters and digits of any script, `_`, `-` and `.`; not beginning with `millrace.` or `sensor.`. */
  readonly name: string;
  /** Only triggerers that take from this queue run it. @default those that were started without queues */
  readonly queue?: string;
  /**
   * Waits, and returns the event's payload, or yields it as the first value of an async iterable, whose `finally` then
   * runs. Returning `endTask.…` ends the task without a worker.
   */
  readonly run: ((kwargs: K, context: TriggerContext) => R) & EventCheck<R>;
}

/** Makes a trigger of one kind. */
export interface TriggerFactory<K extends object, E> {
  (...kwargs: {} extends K ? [kwargs?: JsonSafe<K>] : [kwargs: JsonSafe<K>]): Trigger<E>;
  readonly triggerName: string;
}

/**
 * Defines a trigger of your own, at the top level of a DAG file or of a module that it imports. What it returns makes
 * the triggers: `const row = deferrable({ start: () => rowArrives({ table: "sales" }), resume: … })`.
 *
 * `run` shares the event loop of a process with many other triggers: it awaits, and never computes for long, blocks, or
 * starts processes. It can be run again from the beginning, also in two places at once for a moment, so it observes and
 * does not change anything. Its kwargs travel as JSON. The counterpart of subclassing Airflow's `BaseTrigger`.
 *
 * @throws TypeError when the name is not valid, reserved, or taken
 * @example
 * ```ts
 * const rowArrives = defineTrigger({
 *   name: "row_arrives",
 *   run: async ({ table }: { table: string }, { signal }) => ({ id: await firstRow(table, { signal }) }),
 * });
 * ```
 */
export function defineTrigger<R, K extends object = {}>(
  definition: TriggerDefinition<K, R>,
): TriggerFactory<K, EventOfRun<R>> {
  const { name, queue, run } = definition;
  if (typeof name !== "string" || !NAME.test(name)) {
    throw new TypeError(
      `defineTrigger(): the name "${String(name)}" is not valid: use 1 to 250 letters, digits, underscores, dashes and dots`,
    );
  }
  const reserved = RESERVED.find((prefix) => name.startsWith(prefix));
  if (reserved !== undefined) {
    throw new TypeError(`defineTrigger(): the name "${name}" begins with "${reserved}", which is reserved`);
  }
  if (typeof run !== "function") throw new TypeError(`defineTrigger(): trigger "${name}" needs a function run`);
  registerTrigger({ name, run });
  const make = (kwargs: object = {}): Trigger<EventOfRun<R>> => new Trigger(name, kwargs, [], queue);
  return Object.assign(make, { triggerName: name });
}
