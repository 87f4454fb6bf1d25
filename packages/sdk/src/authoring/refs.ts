// The handles that a DAG file passes around. They only name places in the graph: nothing here ever runs a handler,
// and none of them is awaitable.
import type { GroupNode, TaskNode } from "./definition.ts";

/** Phantom: carries the type of a task's value. Never present at run time. */
export declare const OUTPUT: unique symbol;
/** Phantom: carries the type of a list's elements. Never present at run time. */
export declare const ELEMENTS: unique symbol;
/** The lists of which a combined list is made. */
export const SOURCES: unique symbol = Symbol("millrace.sources");
/** The place in the graph behind a handle. */
export const NODE: unique symbol = Symbol("millrace.node");
/** The fields to take of a task's value, outermost first. */
export const PATH: unique symbol = Symbol("millrace.path");

/** A value that a task will have returned when its downstream tasks run. Covariant in `T`. */
export interface Output<out T> {
  readonly [OUTPUT]: T;
}

/** A list to map over: a literal one, or one that another task returns. */
export type ListOf<T> = readonly T[] | Output<readonly T[]>;

/** Whether a value stands for that of a task, or for a field of it. */
export const isValueRef = (value: unknown): value is Output<unknown> =>
  typeof value === "object" && value !== null && PATH in value;

/** Anything that an order-only edge can begin or end at: a task or a task group. */
export interface DagEnd {
  readonly [NODE]: TaskNode | GroupNode;
}

/** The field names (of an object) or indexes (of an array) that `get` accepts. */
export type FieldKey<T> = T extends readonly unknown[] ? number : T extends object ? keyof T & string : never;

/** The type of one field; `undefined` is added where the value around it can be missing. */
export type FieldOf<T, K> =
  (T extends null | undefined ? undefined : never) | (K extends keyof NonNullable<T> ? NonNullable<T>[K] : never);

/** A reference to the value of a task, or to one field of it. Goes into the inputs of another task. */
export interface ValueRef<T> extends Output<T> {
  /**
   * A reference to one field of this value, resolved when the downstream task runs; only that field is handed over.
   * The counterpart of indexing an `XComArg` in Airflow.
   *
   * @example `load({ rows: extract().get("rows") })`
   */
  get<K extends FieldKey<NonNullable<T>>>(field: K): ValueRef<FieldOf<T, K>>;
}

/** How a teardown is tied to the resources it releases. */
export interface TeardownOptions {
  /** The tasks whose work this teardown undoes. They become setups, and run before it. */
  readonly setups?: DagTaskEnd | readonly DagTaskEnd[];
  /** Whether the run fails when the teardown fails. @default false */
  readonly onFailureFailDagrun?: boolean;
}

/** A task as one end of an edge, whatever it returns. */
export interface DagTaskEnd {
  readonly [NODE]: TaskNode;
}

/**
 * One placed task. It is a handle for wiring and not a promise: there is no value in it while the file is read.
 */
export interface TaskRef<T> extends ValueRef<T>, DagTaskEnd {
  /** The full id, prefixed with those of the groups around it: `group.task`. */
  readonly taskId: string;
  /** Draws order-only edges from this task to `ends` (`>>` in Airflow). An edge to a group reaches its roots. */
  before(...ends: readonly DagEnd[]): this;
  /** Draws order-only edges from `ends` to this task (`<<` in Airflow). An edge from a group leaves its leaves. */
  after(...ends: readonly DagEnd[]): this;
  /** Marks this task as a setup: the tasks between it and its teardown need its success. */
  asSetup(): this;
  /**
   * Marks this task as a teardown: it runs when its setups succeeded and everything in between is done, whatever the
   * outcome. Its trigger rule becomes `all_done_setup_success`, so upstream values can be missing.
   */
  asTeardown(options?: TeardownOptions): this;
}

/** The values of a mapped task, as a handler gets them that asked for them with `lazy()`: read in pages, in order. */
export interface LazyList<T> extends AsyncIterable<T> {
  readonly length: number;
  /** The value at this place, counted from 0 or backwards from -1; `undefined` outside of the list. */
  at(index: number): Promise<T | undefined>;
  /** All of them at once. */
  toArray(): Promise<T[]>;
}

/** A reference to the values of all instances of a mapped task, in the order of their indexes. */
export interface MappedRef<T> extends ValueRef<T[]> {
  /** A reference to the same values, of which the handler reads only what it uses. For long lists. */
  lazy(): Output<LazyList<T>>;
}

/** A placed task that is mapped. Its value is the list of the values of its instances. */
export interface MappedTaskRef<T> extends TaskRef<T[]>, MappedRef<T> {}
