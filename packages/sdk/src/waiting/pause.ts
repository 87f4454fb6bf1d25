// What a body returns instead of a value when its task goes on later, with no worker meanwhile.
import type { HitlRequest, TaskOutcome } from "../runtime/protocol.ts";
import type { RunScope } from "../runtime/run-scope.ts";
import { show } from "../reading/checks.ts";
import type { Trigger } from "../triggers/trigger.ts";
import { encodeJson } from "../values/encode-json.ts";

type Paused = Extract<TaskOutcome, { readonly kind: "deferred" | "rescheduled" }>;

/** Seen by `runTask`, which makes its outcome that of the task. Not a value that a handler could return. */
export class Pause {
  readonly outcome: Paused;

  constructor(outcome: Paused) {
    this.outcome = outcome;
  }
}

export interface DeferOptions {
  /** Given back on resume. Checked as a return value is. */
  readonly state?: unknown;
  /** Seconds. */
  readonly timeout?: number | undefined;
  /** @default "resume" */
  readonly onEvent?: "resume" | "end";
  readonly hitl?: HitlRequest;
}

/** @throws TypeError when the trigger is not right, RangeError for a timeout that is not positive */
export function defer(trigger: Trigger<unknown>, options: DeferOptions, scope: RunScope): Pause {
  const { state = null, timeout, onEvent = "resume", hitl } = options;
  if (trigger.problem !== undefined) throw new TypeError(trigger.problem);
  const { name } = trigger.spec;
  if (timeout !== undefined && !(Number.isFinite(timeout) && timeout > 0)) {
    throw new RangeError(`trigger "${name}": timeout must be a number of seconds, positive, got ${show(timeout)}`);
  }
  return new Pause({
    kind: "deferred",
    trigger: trigger.spec,
    onEvent,
    state: encodeState(name, state, scope),
    ...(timeout === undefined ? {} : { timeoutSeconds: timeout }),
    ...(hitl === undefined ? {} : { hitl }),
  });
}

function encodeState(trigger: string, state: unknown, scope: RunScope) {
  try {
    return encodeJson(state, scope.maxXComBytes);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new TypeError(`trigger "${trigger}": the state to keep cannot be stored: ${why}`, { cause: error });
  }
}
