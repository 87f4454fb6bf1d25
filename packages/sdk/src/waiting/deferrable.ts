// A task in two halves, with a wait between them that no worker has to spend. What `start` is told about and `resume`
// needs travels as data: the halves may run in different processes, on different machines.
import type { NoArguments } from "../authoring/handlers.ts";
import { TriggerFailed, TriggerTimeout } from "../errors/wait-errors.ts";
import { Operator, type OperatorDefinition } from "../operators/operator.ts";
import { checkOptions, seconds, show } from "../reading/checks.ts";
import type { Resumed } from "../runtime/protocol.ts";
import type { RunScope } from "../runtime/run-scope.ts";
import type { StartTriggerSpec } from "../spec/index.ts";
import { Trigger } from "../triggers/trigger.ts";
import { defer } from "./pause.ts";
import { Wait } from "./wait-for.ts";

/** What is returned to wait. */
type Waiting = Trigger<unknown> | Wait<unknown, unknown>;

/** The payload of the event that `start` waits for. */
export type EventOf<B> = B extends Trigger<infer E> ? E : B extends Wait<infer E, unknown> ? E : never;

/** What `start` keeps for `resume`. */
export type StateOf<B> = B extends Trigger<unknown> ? null : B extends Wait<unknown, infer S> ? S : never;

/** What a half returns when it does not wait. */
export type DoneOf<B> = Exclude<B, Waiting>;

/** Why there is no event. */
export type NoEvent = TriggerTimeout | TriggerFailed;

/** See {@link deferrable}. */
export interface DeferrableOptions<A extends object, B, R> {
  /**
   * Runs first. Returns a trigger (or `waitFor(trigger, …)`) to wait for, or a value when there is nothing to wait for:
   * then that is the task's value, and `resume` is not called.
   */
  readonly start: (args: A) => B;
  /**
   * Runs when the trigger has its event, in a process of its own, with the same arguments. Its return value is the
   * task's; a trigger is waited for in turn, with the same types of event and state.
   */
  readonly resume: (event: EventOf<Awaited<B>>, args: A, state: StateOf<Awaited<B>>) => R;
  /**
   * Called instead of `resume` when there is no event; its return value counts as that of `resume`.
   * @default the error fails the task, which is tried again when it has retries left
   */
  readonly onNoEvent?: (error: NoEvent, args: A, state: StateOf<Awaited<B>>) => R;
  /** Seconds that one wait may last; more than 0. The time that the halves themselves take does not count. @default no limit */
  readonly timeout?: number;
}

/** See {@link deferrable}. */
export interface StartFromTriggerOptions<A extends object, E, R> {
  /** Made when the file is read, so from nothing that only a run knows. */
  readonly trigger: Trigger<E>;
  /** Runs when the trigger has its event. @default the event's payload is the task's value, and no worker is needed */
  readonly resume: (event: E, args: A) => R;
  /** Called instead of `resume` when there is no event. @default the error fails the task */
  readonly onNoEvent?: (error: NoEvent, args: A) => R;
  /** Seconds that the wait may last; more than 0. @default no limit */
  readonly timeout?: number;
}

/**
 * Goes where a handler goes, for a task that waits. While it waits it is `deferred`: it holds no worker, and no slot of
 * its pool unless the pool says so. Airflow's deferrable operators.
 *
 * With `start`, a worker runs the first half, which says what to wait for. With `trigger`, that is known when the file is
 * read, and no worker has the task before the event (`start_from_trigger` in Airflow); without `resume`, none after it.
 *
 * @example
 * ```ts
 * const train = dag.task("train", deferrable({
 *   start: async ({ rows }: { rows: number }) => {
 *     const job = await startTraining(rows);
 *     return waitFor(httpPoll({ url: job.url, field: { path: ["state"], equals: "done" } }), { state: { id: job.id } });
 *   },
 *   resume: (event, { rows }, { id }) => ({ id, rows, answer: event.status }),
 *   timeout: 6 * 3600,
 * }));
 * ```
 */
export function deferrable<B, R, A extends object = NoArguments>(
  options: DeferrableOptions<A, B, R>,
): Operator<A, DoneOf<Awaited<B>> | DoneOf<Awaited<R>>>;
export function deferrable<E>(
  options: Omit<StartFromTriggerOptions<NoArguments, E, never>, "resume" | "onNoEvent"> & { readonly resume?: never },
): Operator<NoArguments, E>;
export function deferrable<E, R, A extends object = NoArguments>(
  options: StartFromTriggerOptions<A, E, R>,
): Operator<A, DoneOf<Awaited<R>>>;
export function deferrable(given: object): Operator<never, unknown> {
  return new Operator(definitionOf(given as Halves)); // the overloads say so; plain JavaScript is checked below
}

/** The options without their types. */
interface Halves {
  readonly start?: (args: object) => unknown;
  readonly trigger?: Trigger<unknown>;
  readonly resume?: (event: unknown, args: object, state: unknown) => unknown;
  readonly onNoEvent?: (error: NoEvent, args: object, state: unknown) => unknown;
  readonly timeout?: number;
}

/** What a deferral keeps. A task that began with its trigger has nothing kept. */
interface Kept {
  readonly trigger: string;
  readonly timeout?: number;
  readonly state: unknown;
}

function definitionOf(halves: Halves): OperatorDefinition {
  const { trigger, resume } = halves;
  const problems = wrongHalves(halves);
  const onEvent = resume === undefined ? ("end" as const) : ("resume" as const);
  const startTrigger: StartTriggerSpec | undefined =
    trigger === undefined || problems.length > 0
      ? undefined
      : {
          trigger: trigger.spec,
          onEvent,
          ...(halves.timeout === undefined ? {} : { timeoutSeconds: halves.timeout }),
        };
  return {
    name: "deferrable",
    problems,
    ...(startTrigger === undefined ? {} : { startTrigger }),
    run: async (inputs, scope) => {
      const resumed = scope.waited?.resumed;
      const next = resumed === undefined ? await begin(halves, inputs) : await goOn(halves, inputs, resumed);
      return settle(next, halves, resumed === undefined && trigger !== undefined ? onEvent : "resume", scope);
    },
  };
}

/** A task that begins with its trigger gets here only from a scheduler that does not know of such tasks. */
const begin = (halves: Halves, inputs: object): unknown => halves.trigger ?? halves.start?.(inputs);

function goOn(halves: Halves, inputs: object, { event, state }: Resumed): unknown {
  const kept: Kept =
    halves.trigger === undefined || state !== null
      ? (state as unknown as Kept) // written by settle
      : { trigger: halves.trigger.spec.name, ...present(halves.timeout), state: null };
  if (event.kind === "event") {
    return halves.resume === undefined ? event.payload : halves.resume(event.payload, inputs, kept.state);
  }
  const error =
    event.kind === "timeout"
      ? new TriggerTimeout(kept.trigger, kept.timeout)
      : new TriggerFailed(kept.trigger, event.error);
  if (halves.onNoEvent === undefined) throw error;
  return halves.onNoEvent(error, inputs, kept.state);
}

function settle(next: unknown, halves: Halves, onEvent: "resume" | "end", scope: RunScope): unknown {
  if (!(next instanceof Trigger) && !(next instanceof Wait)) return next;
  const trigger: Trigger<unknown> = next instanceof Wait ? next.trigger : next;
  const timeout = (next instanceof Wait ? next.timeout : undefined) ?? halves.timeout;
  const kept: Kept = {
    trigger: trigger.spec.name,
    ...present(timeout),
    state: next instanceof Wait ? next.state : null,
  };
  return defer(trigger, { state: kept, timeout, onEvent }, scope);
}

const present = (timeout: number | undefined) => (timeout === undefined ? {} : { timeout });

function wrongHalves(halves: Halves): readonly string[] {
  const { trigger } = halves;
  const isFunction = (value: unknown) =>
    typeof value === "function" ? undefined : `must be a function, got ${show(value)}`;
  return [
    ...checkOptions(halves, {
      start: isFunction,
      trigger: (value) =>
        value instanceof Trigger ? undefined : `must be a trigger of @millrace/sdk/triggers, got ${show(value)}`,
      resume: isFunction,
      onNoEvent: isFunction,
      timeout: seconds("positive"),
    }),
    ...((halves.start === undefined) === (trigger === undefined) ? ["give exactly one of start and trigger"] : []),
    ...(halves.start !== undefined && halves.resume === undefined ? ["start needs a resume"] : []),
    ...(trigger instanceof Trigger && trigger.problem !== undefined ? [trigger.problem] : []),
  ];
}
