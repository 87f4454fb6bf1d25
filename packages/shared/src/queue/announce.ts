import type { Broker } from "./broker.ts";

export interface Announced {
  /** Runs to be looked at. */
  readonly dagRunIds: readonly number[];
  /** Attempts that workers have to stop. */
  readonly stopped: readonly string[];
}

/** Tells the processes of what somebody changed. A run may have been queued by it, so queued runs are looked for, too. */
export function announce(broker: Pick<Broker, "wake" | "signalAttempts">, { dagRunIds, stopped }: Announced): void {
  if (dagRunIds.length > 0) {
    broker.wake([...dagRunIds, null].map((dagRunId) => ({ dagRunId, taskIds: null })));
  }
  if (stopped.length > 0) broker.signalAttempts(stopped);
}
