import type { NoArguments } from "../authoring/handlers.ts";
import type { TaskContext } from "../runtime/task-context.ts";

/** A value, or how to compute it from the context and the inputs of the attempt. */
export type PerRun<T, A extends object = NoArguments> = T | ((context: TaskContext, inputs: A) => T | Promise<T>);
