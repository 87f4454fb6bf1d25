// A chain of DAGs that assets start, from a task's outlet to the third DAG, and one that a watcher starts.
import { allOf, Asset, AssetAlias, assetOrTime, Dag, getClient, getContext } from "@millrace/sdk";
import { empty } from "@millrace/sdk/operators";
import { defineTrigger } from "@millrace/sdk/triggers";

const unpaused = { isPausedUponCreation: false } as const;
const raw = new Asset({ name: "e2e_raw", uri: "s3://lake/raw/" });
const marker = new Asset({ name: "e2e_marker" });
const found = new AssetAlias("e2e_found");

const first = new Dag("assets_first", unpaused);
const load = first.task(
  function load() {
    getContext().outletEvents.for(raw).extra["rows"] = 12;
  },
  { outlets: raw },
);
const mark = first.task("mark", empty(), { outlets: marker });
load().before(mark());

const second = new Dag("assets_second", { ...unpaused, schedule: allOf(raw, Asset.ref(marker.name)) });
second.task(
  async function discover() {
    const { triggeringAssetEvents, outletEvents } = getContext();
    const [event] = triggeringAssetEvents.for(raw);
    const state = getClient().assetStateStore.forAsset(raw);
    const before = (await state.get<number>("seen")) ?? 0;
    await state.set("seen", before + 1);
    outletEvents
      .for(found)
      .add(new Asset({ uri: `s3://lake/part/${String(event?.extra["rows"])}` }), { extra: { before } });
    const known = await getClient().getAssetEvents(raw, { ascending: false, limit: 1 });
    return {
      rows: event?.extra["rows"],
      from: event?.source?.dagId,
      events: triggeringAssetEvents.all.length,
      known: known.length,
    };
  },
  { outlets: found, inlets: raw },
)();

const third = new Dag("assets_third", { ...unpaused, schedule: found });
third.task(function use() {
  const [event] = getContext().triggeringAssetEvents.for(found);
  return { uri: event?.asset.uri, before: event?.extra["before"], type: getContext().runType };
})();

const arrives = defineTrigger({
  name: "e2e_arrives",
  run: async ({ name }: { name: string }, { client, signal }) => {
    for (;;) {
      signal.throwIfAborted();
      const value = await client.getVariable(name);
      if (value !== undefined) {
        await client.deleteVariable(name);
        return { value };
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  },
});
const inbox = new Asset({
  name: "e2e_inbox",
  watchers: [{ name: "arrivals", trigger: arrives({ name: "e2e_letter" }) }],
});
const watched = new Dag("assets_watched", { ...unpaused, schedule: [inbox] });
watched.task(function read() {
  return getContext().triggeringAssetEvents.all.map((event) => event.extra);
})();

// Its one interval that is complete by time, and whatever comes for the asset from outside.
const outside = new Asset({ name: "e2e_outside" });
const either = new Dag("assets_either", {
  ...unpaused,
  startDate: new Date("2020-01-01T00:00:00Z"),
  schedule: assetOrTime({ schedule: "0 0 1 1 *", assets: outside }),
});
either.task(function which() {
  const { runType, logicalDate, triggeringAssetEvents } = getContext();
  const events = triggeringAssetEvents.for(outside).map(({ extra }) => extra);
  return { runType, hasDate: logicalDate !== null, events };
})();
