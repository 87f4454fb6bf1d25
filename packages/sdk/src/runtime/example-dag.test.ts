// A DAG in the style of Airflow's own TypeScript example: a group, a named fan-in, an if, a switch and order-only
// edges in one graph, read as data and run task by task.
import { describe, expect, it } from "vitest";
import { Dag, getClient, type Json } from "../index.ts";
import { FakeHost, runRequest } from "./fake-host.ts";
import { artifact, type TaskOutcome } from "./index.ts";
import type { DagSpec, InputSpec } from "../spec/index.ts";

interface Stock {
  readonly site: string;
  readonly crates: number;
}

const dag = new Dag("warehouse_report", { schedule: "@daily", tags: ["stock"], queue: "typescript" });

const count = dag.taskGroup("count");
const harbour = count.task("harbour", async (): Promise<Stock> => {
  const crates = await getClient().getVariable("harbour_crates");
  return { site: "harbour", crates: Number(crates ?? 4) };
})();
const airport = count.task("airport", async (): Promise<Stock> => ({ site: "airport", crates: 0 }))();

const totals = dag.task("totals", async ({ harbour, airport }: { harbour: Stock; airport: Stock }) => {
  const crates = harbour.crates + airport.crates;
  await getClient().setXCom({ key: "crates", value: crates });
  return { crates, sites: 2 };
})({ harbour, airport });

const ship = dag.task("ship", async () => {
  const crates = await getClient().getXCom<number>({ key: "crates", taskId: "totals" });
  return { shipped: crates ?? 0 };
})();
const reorder = dag.task("reorder", async () => ({ shipped: 0 }))();
const hasStock = dag.task("has_stock", ({ totals }: { totals: { crates: number } }) => totals.crates > 0)({ totals });
dag.if(hasStock).then(ship).else(reorder);

const byRoad = dag.task("by_road", () => ({ days: 3 }))();
const byRail = dag.task("by_rail", () => ({ days: 2 }))();
const pickRoute = dag.task("pick_route", async () => {
  return (await getClient().getVariable("route")) === "rail" ? byRail : byRoad;
})();
dag.switch(pickRoute).case(byRoad).case(byRail);

const tidy = dag.task("tidy", async () => undefined, { triggerRule: "all_done" })();
tidy.after(ship, reorder, byRoad, byRail);
count.before(pickRoute);

function specOf(dagId: string): DagSpec {
  const reading = artifact.dags().find((candidate) => candidate.dagId === dagId);
  if (reading === undefined || !("spec" in reading)) throw new Error(JSON.stringify(reading));
  return reading.spec;
}

/** Runs the whole DAG in order, with branch skips and no trigger rules but those that this DAG uses. */
async function runAll(host: FakeHost): Promise<Map<string, TaskOutcome>> {
  const outcomes = new Map<string, TaskOutcome>();
  const skipped = new Set<string>();
  const { tasks } = specOf("warehouse_report");
  const open = [...tasks];
  while (open.length > 0) {
    const index = open.findIndex((task) => task.upstream.every((id) => outcomes.has(id) || skipped.has(id)));
    const [task] = open.splice(index, 1);
    if (task === undefined || skipped.has(task.taskId)) continue;
    const inputs = Object.fromEntries(
      Object.entries(task.inputs).map(([name, input]) => [name, resolve(input, outcomes)]),
    );
    const outcome = await artifact.run(runRequest("warehouse_report", task.taskId, { inputs }), host);
    outcomes.set(task.taskId, outcome);
    if (outcome.kind === "success" && outcome.branch?.kind === "follow") {
      const kept = outcome.branch.taskIds;
      for (const next of tasks) {
        if (next.upstream.includes(task.taskId) && !kept.includes(next.taskId)) skipped.add(next.taskId);
      }
    }
  }
  return outcomes;
}

function resolve(input: InputSpec, outcomes: ReadonlyMap<string, TaskOutcome>): Json {
  if (input.kind === "literal") return input.value;
  const outcome = input.kind === "xcom" ? outcomes.get(input.taskId) : undefined;
  return outcome?.kind === "success" ? (outcome.returnValue ?? null) : null;
}

describe("the warehouse example", () => {
  it("is read as data without running a handler", () => {
    const { tasks, ...rest } = specOf("warehouse_report");
    expect(rest).toEqual({
      dagId: "warehouse_report",
      schedule: { kind: "cron", cron: "0 0 * * *", timezone: "UTC", dst: { gap: "shift", fold: "first" } },
      catchup: false,
      tags: ["stock"],
      owners: ["airflow"],
      failFast: false,
      renderTemplateAsNativeObj: false,
      disableBundleVersioning: false,
      params: {},
      callbacks: [],
      groups: [{ groupId: "count" }],
    });
    expect(Object.fromEntries(tasks.map((task) => [task.taskId, task.upstream]))).toEqual({
      "count.harbour": [],
      "count.airport": [],
      totals: ["count.airport", "count.harbour"],
      ship: ["has_stock"],
      reorder: ["has_stock"],
      has_stock: ["totals"],
      by_road: ["pick_route"],
      by_rail: ["pick_route"],
      pick_route: ["count.airport", "count.harbour"],
      tidy: ["by_rail", "by_road", "reorder", "ship"],
    });
    expect(tasks.filter((task) => task.branch === "branch").map((task) => task.taskId)).toEqual([
      "has_stock",
      "pick_route",
    ]);
  });

  it("gives every task its defaults", () => {
    expect(specOf("warehouse_report").tasks.find((task) => task.taskId === "totals")).toEqual({
      taskId: "totals",
      operator: "task",
      upstream: ["count.airport", "count.harbour"],
      inputs: {
        harbour: { kind: "xcom", taskId: "count.harbour", path: [] },
        airport: { kind: "xcom", taskId: "count.airport", path: [] },
      },
      isSetup: false,
      isTeardown: false,
      onFailureFailDagrun: false,
      owner: "airflow",
      triggerRule: "all_success",
      dependsOnPast: false,
      ignoreFirstDependsOnPast: false,
      waitForPastDependsBeforeSkipping: false,
      waitForDownstream: false,
      retries: 0,
      infraRetries: 0,
      queue: "typescript",
      pool: "default_pool",
      poolSlots: 1,
      retryDelay: 300,
      retryExponentialBackoff: 0,
      priorityWeight: 1,
      weightRule: "downstream",
      doXcomPush: true,
      returnsDagResult: false,
      callbacks: [],
    });
  });

  it("follows the arms that its values choose", async () => {
    const outcomes = await runAll(new FakeHost());
    expect(outcomes.get("totals")).toEqual({ kind: "success", returnValue: { crates: 4, sites: 2 } });
    expect(outcomes.get("ship")).toEqual({ kind: "success", returnValue: { shipped: 4 } });
    expect(outcomes.get("pick_route")).toEqual({
      kind: "success",
      returnValue: "by_road",
      branch: { kind: "follow", taskIds: ["by_road"] },
    });
    expect([...outcomes.keys()].toSorted()).toEqual(
      ["by_road", "count.airport", "count.harbour", "has_stock", "pick_route", "ship", "tidy", "totals"].toSorted(),
    );
  });

  it("takes the other arms when its variables say so", async () => {
    const host = new FakeHost();
    host.variables.set("harbour_crates", "0").set("route", "rail");
    const outcomes = await runAll(host);
    expect(outcomes.get("has_stock")).toEqual({
      kind: "success",
      returnValue: false,
      branch: { kind: "follow", taskIds: ["reorder"] },
    });
    expect(outcomes.has("ship")).toBe(false);
    expect(outcomes.get("by_rail")).toEqual({ kind: "success", returnValue: { days: 2 } });
  });
});
