import { show } from "../reading/checks.ts";

/** Whether a sensor is done, and with which value. Made by {@link pokeReturn}. */
export class PokeReturn<out T> {
  readonly done: boolean;
  readonly value: T;

  /** Not for DAG files: use {@link pokeReturn}. */
  constructor(done: boolean, value: T) {
    this.done = done;
    this.value = value;
  }
}

/** Go on poking. */
export function pokeReturn(done: false): PokeReturn<never>;
/** Done when `done`, and then `value` is the sensor's value. Airflow's `PokeReturnValue`. */
export function pokeReturn<T>(done: boolean, value: T): PokeReturn<T>;
export function pokeReturn(done: boolean, value?: unknown): PokeReturn<unknown> {
  return new PokeReturn(done, value);
}

/** @throws TypeError for what is neither */
export function asPokeReturn(returned: unknown): PokeReturn<unknown> {
  if (returned instanceof PokeReturn) return returned;
  if (typeof returned === "boolean") return new PokeReturn(returned, undefined);
  throw new TypeError(`a poke returns true, false or pokeReturn(done, value), got ${show(returned)}`);
}
