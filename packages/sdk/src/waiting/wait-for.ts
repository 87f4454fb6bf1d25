import type { Trigger } from "../triggers/trigger.ts";

/** A trigger, and what to keep until it has its event. Made by {@link waitFor}. */
export class Wait<out E, out S> {
  readonly trigger: Trigger<E>;
  readonly state: S;
  readonly timeout: number | undefined;

  /** Not for DAG files: use {@link waitFor}. */
  constructor(trigger: Trigger<E>, state: S, timeout: number | undefined) {
    this.trigger = trigger;
    this.state = state;
    this.timeout = timeout;
  }
}

/** See {@link waitFor}. */
export interface WaitOptions<S> {
  /** Given to `resume` as its third argument. A value that JSON can carry. @default null */
  readonly state?: S;
  /** Seconds until the wait is given up. @default the `timeout` of the `deferrable` */
  readonly timeout?: number;
}

/**
 * For `start` and `resume` of a `deferrable`, where more than the trigger has to be said.
 *
 * @example `return waitFor(httpPoll({ url: job.url }), { state: { jobId: job.id }, timeout: 3600 });`
 */
export function waitFor<E, S = null>(trigger: Trigger<E>, options: WaitOptions<S> = {}): Wait<E, S> {
  return new Wait(trigger, options.state ?? (null as S), options.timeout); // without a state S is null by default
}
