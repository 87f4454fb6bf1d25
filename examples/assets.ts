// Three DAGs that assets hold together: two that produce, and one that runs when both have. Trigger `assets_orders` and
// `assets_refunds` by hand, and see `assets_report` start by itself.
import { allOf, Asset, Dag, getContext } from "@millrace/sdk";

const orders = new Asset({ name: "example_orders", uri: "file:///tmp/orders.csv" });
const refunds = new Asset({ name: "example_refunds", uri: "file:///tmp/refunds.csv" });

const common = { tags: ["example"], isPausedUponCreation: false } as const;

const producer = (name: string, asset: Asset, rows: number) => {
  const dag = new Dag(`assets_${name}`, { ...common, description: `Updates ${name}.`, schedule: null });
  const load = dag.task(
    "load",
    () => {
      // What the event of this update says besides that it happened.
      getContext().outletEvents.for(asset).extra["rows"] = rows;
    },
    { outlets: asset },
  );
  load();
};
producer("orders", orders, 120);
producer("refunds", refunds, 7);

const report = new Dag("assets_report", {
  ...common,
  description: "Runs when both orders and refunds are new.",
  schedule: allOf(orders, refunds),
});
const sum = report.task(
  function sum() {
    const { all } = getContext().triggeringAssetEvents;
    for (const { asset, extra, source } of all) {
      console.log(`${asset.name}: ${String(extra["rows"])} rows from run ${source?.runId ?? "outside"}`);
    }
    return all.length;
  },
  { inlets: [orders, refunds] },
);
sum();
