// `millrace.asset_event`: waits for an event of an asset, later than a moment or than the beginning of the wait.
import type { Json } from "@millrace/sdk/spec";
import { waitedAssetEvents, type Database } from "@millrace/shared/db";
import type { BatchKind } from "../polls.ts";

interface Wait {
  readonly name: string | undefined;
  readonly uri: string | undefined;
  readonly afterMs: number;
}

export const assetEvents = (db: Database): BatchKind<Wait> => ({
  name: "millrace.asset_event",
  read: (kwargs, { createdMs }) => {
    const [name, uri] = [kwargs.textIfGiven("name"), kwargs.textIfGiven("uri")];
    if (name === undefined && uri === undefined) kwargs.wrong("name", "a string, unless `uri` is one");
    return { wait: { name, uri, afterMs: kwargs.instantIfGiven("after") ?? createdMs }, pollMs: kwargs.pollMs(5) };
  },
  lookAtAll: async (waits) => {
    const events = new Map<number, Json[]>();
    for (const { place, ...event } of await db.run(waitedAssetEvents, [JSON.stringify(waits)])) {
      events.set(place, [...(events.get(place) ?? []), event]);
    }
    return waits.map((_, place) => {
      const found = events.get(place);
      return found === undefined ? undefined : { kind: "event", payload: { events: found } };
    });
  },
});
