// What a trigger that ends its task without a worker makes of it. Pure.
import type { Json, TaskSpec } from "@millrace/sdk/spec";
import type { TriggerEnd } from "@millrace/sdk/runtime";
import { hasTryLeft, jitterOf, retryDelaySeconds } from "@millrace/shared/model";

export interface EndedAttempt {
  readonly dagId: string;
  readonly runId: string;
  readonly taskId: string;
  readonly tryNumber: number;
  readonly maxTries: number;
}

export type DeferredEnding =
  | {
      readonly kind: "final";
      readonly state: TriggerEnd["state"];
      readonly value: Json | undefined;
      readonly reason: string | null;
    }
  | { readonly kind: "retry"; readonly delaySeconds: number; readonly reason: string };

/** @param longestDelay core.max_task_retry_delay */
export function decideEnd(
  end: TriggerEnd,
  task: TaskSpec,
  attempt: EndedAttempt,
  longestDelay: number,
): DeferredEnding {
  if (end.state !== "failed") {
    const isPushed = end.state === "success" && task.doXcomPush;
    return { kind: "final", state: end.state, value: isPushed ? end.value : undefined, reason: end.message ?? null };
  }
  const reason = end.message ?? "its trigger ended it as failed";
  const { tryNumber, maxTries } = attempt;
  if (!hasTryLeft({ tryNumber, maxTries, retryable: end.retryable ?? true })) {
    return { kind: "final", state: "failed", value: undefined, reason };
  }
  const jitter = jitterOf(`${attempt.dagId}#${attempt.taskId}#${attempt.runId}#${tryNumber}`);
  return { kind: "retry", delaySeconds: retryDelaySeconds(task, tryNumber, jitter, longestDelay), reason };
}
