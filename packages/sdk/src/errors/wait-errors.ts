// How a wait can end other than with what was waited for. Those that extend FailTask are not tried again.
import type { TaskError } from "../runtime/protocol.ts";
import { FailTask } from "./task-signals.ts";

/** A deferred task's own time ran out before its trigger had an event. The task is tried again when it has retries left. */
export class TriggerTimeout extends Error {
  override readonly name: string = "TriggerTimeout";
  readonly trigger: string;

  constructor(trigger: string, seconds?: number) {
    const within = seconds === undefined ? "in time" : `within ${seconds} s`;
    super(`the trigger "${trigger}" had no event ${within}`);
    this.trigger = trigger;
  }
}

/** A deferred task's trigger threw, blocked its process, or is missing. The task is tried again when it has retries left. */
export class TriggerFailed extends Error {
  override readonly name: string = "TriggerFailed";
  readonly trigger: string;

  constructor(trigger: string, error: TaskError) {
    const cause = new Error(error.message);
    cause.name = error.name;
    cause.stack = error.stack ?? `${error.name}: ${error.message}`;
    super(`the trigger "${trigger}" failed: ${error.name}: ${error.message}`, { cause });
    this.trigger = trigger;
  }
}

/** A sensor's `timeout` is over. Never tried again, as in Airflow. */
export class SensorTimeout extends FailTask {
  override readonly name: string = "SensorTimeout";
}

/** Nobody answered a question in time, and it has no defaults. Never tried again. */
export class HitlTimeout extends FailTask {
  override readonly name: string = "HitlTimeout";
}

/** Somebody said no to an approval with `failOnReject`. Never tried again. */
export class ApprovalRejected extends FailTask {
  override readonly name: string = "ApprovalRejected";
}

/** There is a run of this id already. Never tried again: the next try would find it, too. */
export class DagRunAlreadyExists extends FailTask {
  override readonly name: string = "DagRunAlreadyExists";
}

/** A task or a run that was waited for is in one of the `failedStates`. */
export class ExternalTaskFailed extends Error {
  override readonly name: string = "ExternalTaskFailed";
}
