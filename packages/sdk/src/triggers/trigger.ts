import type { Json } from "../spec/index.ts";
import type { TriggerSpec } from "../runtime/protocol.ts";
import { encodeJson } from "../values/encode-json.ts";

/** Phantom: the type of the event's payload. Never present at run time. */
declare const EVENT: unique symbol;

/**
 * A wait that needs no worker: what to wait for, as data. Made by the functions of `@millrace/sdk/triggers`, or by one of
 * your own (`defineTrigger`). `E` is the payload of its event.
 *
 * To make one never throws. What is wrong with it is reported when the DAG is read, or, for one that `start` makes, when
 * the task would begin to wait.
 */
export class Trigger<out E> {
  declare readonly [EVENT]: E;
  readonly spec: TriggerSpec;
  /** What is wrong with it, naming the trigger. */
  readonly problem: string | undefined;

  /** Not for DAG files: use `defineTrigger`. */
  constructor(name: string, kwargs: object, problems: readonly string[] = [], queue?: string) {
    const encoded: Record<string, Json> = {};
    const wrong = [...problems];
    for (const [key, value] of Object.entries(kwargs)) {
      if (value === undefined) continue;
      try {
        Object.defineProperty(encoded, key, { value: encodeJson(value), enumerable: true });
      } catch (error) {
        wrong.push(`kwarg "${key}" cannot be stored: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
    this.spec = { name, kwargs: encoded, ...(queue === undefined ? {} : { queue }) };
    this.problem = wrong.length === 0 ? undefined : `trigger "${name}": ${wrong.join("; ")}`;
  }

  /** The same wait, for triggerers that take from this queue. Default: those that were started without queues. */
  onQueue(queue: string): Trigger<E> {
    const wrong = typeof queue === "string" && queue.trim() !== "" ? [] : ["onQueue() takes the name of a queue"];
    const problems = this.problem === undefined ? wrong : [this.problem, ...wrong];
    return new Trigger<E>(this.spec.name, this.spec.kwargs, problems, queue);
  }
}
