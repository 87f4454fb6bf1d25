// Two DAGs as they are written for Airflow's own TypeScript SDK, under its name: they run here unchanged. A group, a task
// that joins two values by name, an if, a switch, edges that only say the order, and a run of another DAG.
//
// Without variables every task succeeds but two, which are skipped: `reorder`, for there is stock, and `by_rail`. With the
// variable `route` = rail it is `by_road` instead of `by_rail`; with `harbour_crates` = 0 it is `ship` instead of `reorder`.
import { Bundle, Dag, getClient, getContext } from "apache-airflow-ts-sdk";

interface Stock {
  readonly site: string;
  readonly crates: number;
}

const dag = new Dag("airflow_native", {
  description: "Counts crates, ships or reorders, and has another DAG report it.",
  schedule: null,
  startDate: new Date("2026-01-01T00:00:00Z"),
  tags: ["example"],
  isPausedUponCreation: false,
});

const count = dag.taskGroup("count");
const harbour = count.task("harbour", async (): Promise<Stock> => {
  const crates = await getClient().getVariable("harbour_crates");
  return { site: "harbour", crates: Number(crates ?? 4) };
})();
const airport = count.task("airport", (): Stock => ({ site: "airport", crates: 0 }))();

const totals = dag.task(
  async function totals({ harbour, airport }: { harbour: Stock; airport: Stock }) {
    const crates = harbour.crates + airport.crates;
    await getClient().setXCom({ key: "sites", value: [harbour.site, airport.site] });
    return { crates };
  },
  { retries: 1, retryDelay: 5 },
)({ harbour, airport });

const hasStock = dag.task(
  "has_stock",
  ({ crates }: { crates: number }) => crates > 0,
)({
  crates: totals.get("crates"),
});
const ship = dag.task(async function ship() {
  const sites = await getClient().getXCom<string[]>({ key: "sites", taskId: "totals" });
  return `shipped from ${sites?.join(" and ") ?? "nowhere"}`;
})();
const reorder = dag.task(() => "ordered", { taskId: "reorder" })();
dag.if(hasStock).then(ship).else(reorder);

const byRoad = dag.task("by_road", () => ({ days: 3 }))();
const byRail = dag.task("by_rail", () => ({ days: 2 }))();
const pickRoute = dag.task("pick_route", async () => {
  return (await getClient().getVariable("route")) === "rail" ? byRail : byRoad;
})();
dag.switch(pickRoute).case(byRoad).case(byRail);
count.before(pickRoute);

const tidy = dag.task("tidy", () => undefined, { triggerRule: "all_done" })();
tidy.after(ship, reorder, byRoad, byRail);

dag
  .triggerDagRun({
    taskId: "report",
    dagId: "airflow_native_report",
    conf: { crates: totals.get("crates"), asked_by: "{{ run_id }}" },
    waitForCompletion: true,
    pokeInterval: 1,
  })
  .after(tidy);

const report = new Dag("airflow_native_report", { schedule: null, tags: ["example"], isPausedUponCreation: false });
report.task("write", () => {
  const { conf } = getContext();
  return `${String(conf["crates"])} crates, asked for by ${String(conf["asked_by"])}`;
})();

const bundle = new Bundle();
bundle.register(dag, report);
await bundle.serve();
