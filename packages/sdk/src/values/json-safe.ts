import type { Json } from "../spec/index.ts";
import type { DagEnd } from "../authoring/refs.ts";

/**
 * `T` as it comes back from JSON: what JSON cannot carry becomes `never`, so that `T extends JsonSafe<T>` holds
 * exactly for the types that survive. A mapped type, because it also ends for recursive types. `any` and `unknown`
 * pass: nothing is known about them, and the value itself is checked when the task has run.
 */
export type JsonSafe<T> = unknown extends T
  ? T
  : [T] extends [Json] // also where the recursion of a type like Json itself has to end
    ? T
    : T extends null | boolean | number | string | undefined | void
      ? T
      : T extends bigint | symbol | ((...args: never[]) => unknown) | NotPlain
        ? never
        : T extends readonly unknown[]
          ? { [K in keyof T]: JsonSafeElement<T[K]> }
          : T extends object
            ? { [K in keyof T]: JsonSafe<T[K]> }
            : never;

/** In an array `undefined` would come back as `null`. */
type JsonSafeElement<E> = unknown extends E ? E : E extends undefined ? never : JsonSafe<E>;

/** Objects whose data is not in their own enumerable properties. */
type NotPlain =
  | Date
  | RegExp
  | Error
  | ReadonlyMap<never, unknown>
  | ReadonlySet<never>
  | ArrayBuffer
  | ArrayBufferView
  | PromiseLike<unknown>;

/** `T` as the codec of XComs gives it back: JSON, and dates, bigints, maps, sets and bytes. As {@link JsonSafe} otherwise. */
export type Storable<T> = unknown extends T
  ? T
  : [T] extends [Json]
    ? T
    : T extends null | boolean | number | string | undefined | void | bigint | Date | Uint8Array
      ? T
      : T extends
            | symbol
            | ((...args: never[]) => unknown)
            | RegExp
            | Error
            | ArrayBuffer
            | ArrayBufferView
            | PromiseLike<unknown>
        ? never
        : T extends ReadonlyMap<infer K, infer V>
          ? [K, V] extends [Storable<K>, Storable<V>]
            ? T
            : never
          : T extends ReadonlySet<infer M>
            ? [M] extends [Storable<M>]
              ? T
              : never
            : T extends object
              ? { [K in keyof T]: Storable<T[K]> }
              : never;

/** Named in the compiler's message when a handler returns something that JSON cannot carry. */
export interface NotJsonSafe<T> {
  readonly "the handler's return value does not survive JSON": T;
}

/** `unknown` (accepts everything) for a return type that can be stored, else a type that no handler has. */
export type ReturnCheck<R> = [Awaited<R>] extends [DagEnd | Storable<Awaited<R>>] ? unknown : NotJsonSafe<Awaited<R>>;
