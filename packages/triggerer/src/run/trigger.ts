import type { TriggerOutcome } from "@millrace/sdk/runtime";
import type { Json } from "@millrace/sdk/spec";

/** A trigger that this triggerer has to run. */
export interface LoadedTrigger {
  readonly id: number;
  readonly name: string;
  readonly kwargs: Readonly<Record<string, Json>>;
  /** When the wait began, by the database's clock: milliseconds since 1970. */
  readonly createdMs: number;
}

/** What ended a wait. */
export interface Fired {
  readonly triggerId: number;
  readonly outcome: TriggerOutcome;
}

/** Something that runs triggers of its kind until they end. */
export interface Runner {
  readonly size: number;
  add(triggers: readonly LoadedTrigger[]): void;
  ids(): Iterable<number>;
  /** Those that are no longer this triggerer's: nothing comes of them any more. */
  drop(ids: readonly number[]): void;
  /** Ends what runs, without an outcome. */
  stop(): Promise<void>;
}

export const failed = (name: string, message: string): TriggerOutcome => ({ kind: "failed", error: { name, message } });

/** Looking again cannot help: the trigger fails. */
export class GiveUp extends Error {
  override readonly name: string;

  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}
