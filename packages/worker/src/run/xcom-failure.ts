// Values of XComs that the store does not take or give fail the task, with the store's own words; a try later may find it
// well again, but a value that is gone stays gone.
import type { TaskOutcome } from "@millrace/sdk/runtime";
import type { Json } from "@millrace/sdk/spec";
import type { ClaimedAttempt } from "@millrace/shared/db";
import { AppError } from "@millrace/shared/errors";
import type { Logger } from "@millrace/shared/observability";
import type { XComs } from "@millrace/shared/xcoms";
import { onceAvailable } from "./once-available.ts";

/** Undefined for any other error. */
export function xcomFailure(error: unknown): TaskOutcome | undefined {
  if (!(error instanceof AppError) || !error.code.startsWith("XCOM_")) return undefined;
  const { retryable, message } = error;
  return { kind: "failed", retryable, error: { name: "XComUnavailable", message } };
}

/** What the row of the return value is to hold, or what the task comes to instead. */
export async function keepReturnValue(
  xcoms: XComs,
  attempt: ClaimedAttempt,
  value: Json | undefined,
  log: Logger,
): Promise<{ readonly held?: string; readonly failure?: TaskOutcome }> {
  if (value === undefined) return {};
  try {
    return {
      held: await onceAvailable(
        () => xcoms.keep(attempt, "return_value", value),
        () => false,
        log,
      ),
    };
  } catch (error) {
    const failure = xcomFailure(error);
    if (failure === undefined) throw error;
    return { failure };
  }
}
