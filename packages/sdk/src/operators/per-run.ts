import type { NoArguments } from "../authoring/handlers.ts";
import type { Output } from "../authoring/refs.ts";
import type { TaskContext } from "../runtime/task-context.ts";

/**
 * A value, or how to compute it from the context and the inputs of the attempt. In place of a value, or of one within it,
 * may stand a reference to that of another task, which then comes before this one.
 */
export type PerRun<T, A extends object = NoArguments> =
  Filled<T> | ((context: TaskContext, inputs: A) => T | Promise<T>);

/** A value that may have references to values of tasks in it. */
export type Filled<T> =
  | T
  | Output<T>
  | (T extends Date | null | undefined
      ? never
      : T extends readonly (infer E)[]
        ? readonly Filled<E>[]
        : T extends object
          ? { readonly [K in keyof T]: Filled<T[K]> }
          : never);
