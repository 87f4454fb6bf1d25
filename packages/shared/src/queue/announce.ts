import type { Broker } from "./broker.ts";

export interface Announced {
  /** Runs to be looked at. */
  readonly dagRunIds: readonly number[];
  /** Attempts that workers have to stop. */
  readonly stopped: readonly string[];
}

export type Announcing = Pick<Broker, "wake" | "signalAttempts" | "callTriggerers">;

/**
 * Tells the processes of what somebody changed. A run may have been queued by it, so queued runs are looked for, too; and
 * what a task waited for may be gone.
 */
export function announce(broker: Announcing, { dagRunIds, stopped }: Announced): void {
  if (dagRunIds.length > 0) {
    broker.wake([...dagRunIds, null].map((dagRunId) => ({ dagRunId, taskIds: null })));
    broker.callTriggerers();
  }
  if (stopped.length > 0) broker.signalAttempts(stopped);
}
