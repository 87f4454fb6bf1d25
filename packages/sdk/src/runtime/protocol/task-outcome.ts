// How one try of a task instance ended.
import type { Json } from "../../spec/index.ts";
import type { OutletEvent } from "./assets.ts";
import type { HitlRequest } from "./people.ts";
import type { TaskError } from "./task-error.ts";
import type { TriggerSpec } from "./triggers.ts";

/** What the run of a branch task decided about its downstream tasks. Stored; clearing a skipped arm skips it again. */
export type BranchDecision =
  /** Only these direct downstream tasks go on; the other direct ones are skipped. */
  | { readonly kind: "follow"; readonly taskIds: readonly string[] }
  /** Every task downstream, at any distance, is skipped, teardowns excepted. */
  | { readonly kind: "skip_all" };

export type TaskOutcome =
  | {
      readonly kind: "success";
      /** Absent when the handler returned `undefined` or the task does not push. */
      readonly returnValue?: Json;
      readonly branch?: BranchDecision;
      /** Of a task with outlets: the events of this success. Absent: one of each outlet that is an asset or a reference. */
      readonly assetEvents?: readonly OutletEvent[];
    }
  | { readonly kind: "skipped"; readonly message: string }
  | { readonly kind: "failed"; readonly retryable: boolean; readonly error: TaskError }
  /** The task waits for a trigger and holds no worker meanwhile. */
  | {
      readonly kind: "deferred";
      readonly trigger: TriggerSpec;
      /** `resume`: a worker runs the task again with the event. `end`: the event's payload is the task's value. */
      readonly onEvent: "resume" | "end";
      /** Given back with the event. */
      readonly state: Json;
      /** Seconds until the wait is given up; more than 0. */
      readonly timeoutSeconds?: number;
      /** With the trigger `millrace.hitl`: what is asked. */
      readonly hitl?: HitlRequest;
    }
  /** A sensor gives its slot back; it is started again after this, in the same try. */
  | { readonly kind: "rescheduled"; readonly delaySeconds: number };

export type RenderOutcome =
  | { readonly kind: "rendered"; readonly fields: Readonly<Record<string, Json>> }
  | { readonly kind: "failed"; readonly error: TaskError };
