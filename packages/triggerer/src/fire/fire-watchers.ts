// What the event of a watcher becomes: an event of its asset, in one transaction. Afterwards the trigger is armed again, at
// once if it has waited for a while, so that one which always has something does not turn round without a pause.
import type { TriggerOutcome } from "@millrace/sdk/runtime";
import type { Json } from "@millrace/sdk/spec";
import { lockFiredWatchers, writeAssetEvents, type Database, type FiredWatcher } from "@millrace/shared/db";
import type { Logger } from "@millrace/shared/observability";
import type { Fired } from "../run/trigger.ts";

export interface WatcherDeps {
  readonly db: Database;
  readonly log: Logger;
  readonly jobId: () => number;
}

export interface WatcherEvents {
  /** By trigger: milliseconds until it is to be armed again. */
  readonly rearmIn: ReadonlyMap<number, number>;
  /** Somebody waits for one of the events. */
  readonly isAwaited: boolean;
}

const PAUSE_MS = 1_000;
const PAUSE_AFTER_FAILURE_MS = 5_000;

export async function fireWatchers(deps: WatcherDeps, items: readonly Fired[]): Promise<WatcherEvents> {
  const outcomes = new Map(items.map((item) => [item.triggerId, item.outcome]));
  return await deps.db.transaction(async (tx) => {
    const fired = await tx.run(lockFiredWatchers, [deps.jobId(), [...outcomes.keys()]]);
    const rearmIn = new Map(fired.map((one) => [one.triggerId, pauseOf(outcomes.get(one.triggerId), one)]));
    for (const one of fired) {
      const outcome = outcomes.get(one.triggerId);
      if (outcome?.kind !== "failed") continue;
      const { name, message } = outcome.error;
      deps.log.warn(
        { dag: one.dagId, watcher: one.name, cause: `${name}: ${message}` },
        "a watcher failed; it starts again",
      );
    }
    const events = fired.flatMap(({ triggerId, assetId }) => {
      const payload = payloadOf(outcomes.get(triggerId));
      return payload === undefined ? [] : [{ assetId, extra: { from_trigger: true, payload } }];
    });
    const written = events.length === 0 ? [] : await writeAssetEvents(tx, events);
    return { rearmIn, isAwaited: written.some((event) => event.consumers > 0) };
  });
}

function payloadOf(outcome: TriggerOutcome | undefined): Json | undefined {
  if (outcome?.kind === "event") return outcome.payload;
  return outcome?.kind === "end" && outcome.state === "success" ? (outcome.value ?? null) : undefined;
}

const pauseOf = (outcome: TriggerOutcome | undefined, { age }: FiredWatcher): number =>
  payloadOf(outcome) === undefined ? PAUSE_AFTER_FAILURE_MS : Math.max(0, PAUSE_MS - age * 1000);
