// Whether and when a failed attempt is tried again. Pure.
import type { TaskSpec } from "@millrace/sdk/spec";

export interface FailedAttempt {
  readonly tryNumber: number;
  readonly maxTries: number;
  /** False for an error that says of itself that trying again cannot help. */
  readonly retryable: boolean;
}

export const hasTryLeft = (attempt: FailedAttempt): boolean =>
  attempt.retryable && attempt.maxTries > 0 && attempt.tryNumber <= attempt.maxTries;

type RetrySpec = Pick<TaskSpec, "retryDelay" | "retryExponentialBackoff" | "maxRetryDelay">;

/**
 * Seconds until the next try. Backoff grows by its factor with each try and adds a jitter below the delay itself,
 * drawn from the attempt's key, so that the same attempt always waits as long; maxRetryDelay caps with or without it.
 * @param jitter a number in [0, 1) that is a function of the attempt's key
 */
export function retryDelaySeconds(task: RetrySpec, tryNumber: number, jitter: number, longest: number): number {
  const factor = task.retryExponentialBackoff;
  const base = Math.max(0, task.retryDelay);
  const cap = Math.min(task.maxRetryDelay ?? longest, longest);
  if (factor === 0 || factor === 1) return Math.min(base, cap);
  const grown = Math.max(1, Math.ceil(base * factor ** (tryNumber - 1)));
  return Math.min(Number.isFinite(grown) ? grown + Math.floor(jitter * grown) : cap, cap);
}

/** A number in [0, 1) made of a key by FNV-1a: stable across processes. */
export function jitterOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193) >>> 0;
  return hash / 2 ** 32;
}

export type LostAttemptOutcome = "retry" | "poison" | "fail";

export const MAX_INFRA_FAILURES = 3;

/** A lost worker is not the task's failure: a retryable task goes again without using a try, three times at most. */
export function decideLostAttempt(
  task: Pick<TaskSpec, "retries" | "infraRetries">,
  infraFailures: number,
): LostAttemptOutcome {
  if (task.retries > 0) return infraFailures < MAX_INFRA_FAILURES ? "retry" : "poison";
  if (task.infraRetries > 0)
    return infraFailures < Math.min(task.infraRetries, MAX_INFRA_FAILURES) ? "retry" : "poison";
  return "fail";
}
