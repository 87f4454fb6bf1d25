// How the types of a handler reach the call that places its task.
import type { TriggerRule } from "../spec/index.ts";
import type { Operator } from "../operators/operator.ts";
import type { DagEnd, LazyList, ListOf, MappedRef, MappedTaskRef, Output, TaskRef } from "./refs.ts";

/** The argument of a handler that takes none. */
export type NoArguments = Readonly<Record<string, never>>;

/** A plain handler: one object of named arguments in, a JSON-safe value (or nothing) out. */
export type Handler<A extends object, R> = (args: A) => R;

/** What goes where a handler goes. */
export type TaskBody<A extends object, R> = Handler<A, R> | Operator<A, R>;

/** The value that downstream tasks see. A decider's value is the id of the task it chose. */
export type OutputOf<R> = Stored<Awaited<R>>;

type Stored<T> = T extends DagEnd ? string : T;

/** In the compiler's message when an upstream value may be missing but the handler does not expect that. */
export interface MayBeMissing<T> {
  readonly "with this trigger rule the upstream value can be missing: let the handler take `undefined` too": T;
}

/** What may be given for an argument of type `T`: a literal, or a reference to an upstream value. */
export type Input<T, Rule extends TriggerRule> =
  T | ([Rule] extends ["all_success"] ? Output<T> : undefined extends T ? Output<T> : MayBeMissing<T>) | AlwaysThere<T>;

/** The list of a mapped task: at the least it has no elements, whatever became of the task. */
type AlwaysThere<T> = T extends readonly (infer E)[] ? MappedRef<E> : T extends LazyList<unknown> ? Output<T> : never;

/** The named inputs of a task whose handler takes `A`. */
export type Inputs<A extends object, Rule extends TriggerRule> = { readonly [K in keyof A]: Input<A[K], Rule> };

/** For each argument the list that it is mapped over. */
export type Lists<A extends object> = { readonly [K in keyof A]: ListOf<Exclude<A[K], undefined>> };

/** What the instances of a mapped task return that return something. */
export type Returned<R> = Exclude<OutputOf<R>, undefined | void>;

/** Maps a task: it is placed with one instance for each element. Call one of these, once, in place of the factory. */
export interface Mappable<A extends object, R> {
  /**
   * One instance for each element of the list; for each combination when several arguments are lists, of which the last
   * varies fastest. The lists are literals, or what other tasks return; an empty one skips the task. More instances than
   * `core.max_map_length`, or a value that is no list, fail the task. Airflow's `expand`.
   *
   * @example `const sizes = measure.expand({ file: files });`
   */
  expand(lists: Lists<A>): MappedTaskRef<Returned<R>>;
  /**
   * One instance for each object of the list, which has the arguments of that instance. Airflow's `expand_kwargs`.
   *
   * @param options `strict: false` lets an object override what `partial` said. Default: that fails the instance.
   */
  expandKwargs(list: ListOf<Readonly<A>>, options?: { readonly strict?: boolean }): MappedTaskRef<Returned<R>>;
}

/**
 * Places a task in its DAG and names each of its inputs. Call it exactly once: a second call, or none at all, is an
 * error of the DAG.
 */
export interface TaskFactory<A extends object, R, Rule extends TriggerRule = "all_success"> extends Mappable<A, R> {
  (
    ...inputs: {} extends Inputs<A, Rule> ? [inputs?: Inputs<A, Rule>] : [inputs: Inputs<A, Rule>]
  ): TaskRef<OutputOf<R>>;
  /** The full id of the task. */
  readonly taskId: string;
  /**
   * The inputs that are the same for every instance of a mapped task. Airflow's `partial`.
   *
   * @example `load.partial({ table: "sales" }).expand({ file: files })`
   */
  partial<K extends keyof A>(inputs: { readonly [N in K]: Input<A[N], Rule> }): Mappable<Omit<A, K>, R>;
}
