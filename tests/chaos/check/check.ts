// The checker: shares no code with the engine, reads Postgres and the effect log, and asserts every invariant.
import { answersAreTheGiven, eventsStartOneRun, mapsAreWhole } from "./data.ts";
import { callbacksAreOnce, lossesAreFoundInTime, lostIsKilled } from "./events.ts";
import * as attempts from "./invariants.ts";
import { dependenciesHold, limitsHold } from "./limits.ts";

export const INVARIANTS: Readonly<Record<string, attempts.Invariant>> = {
  "each attempt starts at most once": attempts.eachAttemptStartsOnce,
  "no effect without history": attempts.noEffectWithoutHistory,
  "epochs have no gap": attempts.epochsAreWhole,
  "only legal changes": attempts.changesAreLegal,
  "a final result stays": attempts.finalResultsStay,
  "everything ended": attempts.everythingEnded,
  "successes are real, values are the winner's": attempts.successesAreReal,
  "stopped means stopped": attempts.stoppedMeansStopped,
  "retries are the user's": attempts.retriesAreTheUsers,
  "limits hold": limitsHold,
  "dependencies hold": dependenciesHold,
  "callbacks exactly once a cause": callbacksAreOnce,
  "what was acknowledged is there": attempts.acknowledgedIsThere,
  "what was acknowledged is in the audit log": attempts.acknowledgedIsAudited,
  "every slot of the schedule once": attempts.everySlotOnce,
  "losses are found in time": lossesAreFoundInTime,
  "what is lost is killed": lostIsKilled,
  "mapped tasks are whole and not doubled": mapsAreWhole,
  "one event, one run": eventsStartOneRun,
  "answers are those that were given": answersAreTheGiven,
};

export interface Broken {
  readonly invariant: string;
  readonly by: readonly string[];
}

export function check(evidence: attempts.Evidence): Broken[] {
  return Object.entries(INVARIANTS).flatMap(([invariant, holds]) => {
    const by = holds(evidence);
    return by.length === 0 ? [] : [{ invariant, by }];
  });
}
