// `millrace.external_states`: waits for runs of other DAGs, or for their tasks.
import { judgeExternalStates, type ExternalState, type ExternalStatesKwargs } from "@millrace/sdk/spec";
import { missingExternals, waitedExternalStates, type Database } from "@millrace/shared/db";
import { failed } from "../trigger.ts";
import type { BatchKind } from "../polls.ts";

interface Wait {
  readonly asked: ExternalStatesKwargs;
  /** Whether it is known that what is asked for exists. */
  isChecked: boolean;
}

export const externalStates = (db: Database): BatchKind<Wait> => ({
  name: "millrace.external_states",
  read: (kwargs) => {
    const [taskIds, taskGroupId] = [kwargs.textsIfGiven("taskIds"), kwargs.textIfGiven("taskGroupId")];
    const asked: ExternalStatesKwargs = {
      dagId: kwargs.text("dagId"),
      ...(taskIds === undefined ? {} : { taskIds }),
      ...(taskGroupId === undefined ? {} : { taskGroupId }),
      logicalDates: kwargs.instants("logicalDates"),
      runIds: kwargs.texts("runIds"),
      allowedStates: kwargs.textsIfGiven("allowedStates") ?? ["success"],
      failedStates: kwargs.texts("failedStates"),
      skippedStates: kwargs.texts("skippedStates"),
      checkExistence: kwargs.flag("checkExistence"),
      pollSeconds: kwargs.pollMs(60) / 1000,
    };
    return { wait: { asked, isChecked: !asked.checkExistence }, pollMs: asked.pollSeconds * 1000 };
  },
  lookAtAll: async (waits) => {
    const missing = await findMissing(db, waits);
    const states = new Map<number, ExternalState[]>();
    for (const { place, ...state } of await db.run(waitedExternalStates, [asJson(waits)])) {
      states.set(place, [...(states.get(place) ?? []), state]);
    }
    return waits.map((wait, place) => {
      const lacking = missing.get(wait);
      if (lacking !== undefined) return failed("ExternalTaskNotFound", `there is no ${lacking}`);
      const found = states.get(place) ?? [];
      const outcome = judgeExternalStates(wait.asked, found);
      if (outcome === "wait") return undefined;
      return { kind: "event", payload: { outcome, states: found.map((state) => ({ ...state })) } };
    });
  },
});

const asJson = (waits: readonly Wait[]): string => JSON.stringify(waits.map((wait) => wait.asked));

/** Looked for with the first look only. */
async function findMissing(db: Database, waits: readonly Wait[]): Promise<ReadonlyMap<Wait, string>> {
  const unchecked = waits.filter((wait) => !wait.isChecked);
  if (unchecked.length === 0) return new Map();
  const missing = new Map<Wait, string>();
  for (const row of await db.run(missingExternals, [asJson(unchecked)])) {
    const wait = unchecked[row.place];
    if (wait !== undefined) missing.set(wait, row.missing);
  }
  for (const wait of unchecked) wait.isChecked = true;
  return missing;
}
