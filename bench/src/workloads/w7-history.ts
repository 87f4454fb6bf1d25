// W7: what a long history costs: 100,000 finished runs with three million task instances, in the very DAGs that run. Two
// databases, one with the history and one without, are measured by turns with the same work: the throughput of W4, the lag
// of W3, and lists of the API. The processes of the one are stopped while those of the other run.
import type { Services } from "@millrace/testkit/services";
import { ApiClient } from "../rig/api-client.ts";
import { showCpu, type Cost } from "../rig/cost.ts";
import { Engine } from "../rig/engine.ts";
import { loadHistory } from "../rig/history.ts";
import { publish, type Row } from "../rig/report.ts";
import { assertValid, runsToEnd, startPaced } from "../rig/runs.ts";
import { median, quantile, spread } from "../rig/statistics.ts";
import { lagsOf, quantiles, readTimeline, showLags, type Lags } from "../rig/timeline.ts";
import { busyMs, measureRound, tasksOf } from "./w4-throughput.ts";

const DAGS = 200;
const RUNS_PER_DAG = 500;
const PACED_EVERY_MS = 100;

/** The requests that pages and operators make, by what they show. */
const LISTS: Readonly<Record<string, string>> = {
  "newest runs": "/api/v2/dags/~/dagRuns?order_by=-run_after",
  "newest runs of a DAG": "/api/v2/dags/noop_000/dagRuns?order_by=-run_after",
  "failed runs": "/api/v2/dags/~/dagRuns?state=failed&order_by=-run_after",
  "grid of a DAG": "/ui/dags/noop_000/grid",
  "list of DAGs": "/ui/dags?limit=50",
  "task instances of a DAG": "/api/v2/dags/noop_000/dagRuns/~/taskInstances",
  "newest task instances": "/api/v2/dags/~/dagRuns/~/taskInstances?order_by=-start_date",
  "failed task instances": "/api/v2/dags/~/dagRuns/~/taskInstances?state=failed&order_by=-start_date",
  "running task instances": "/api/v2/dags/~/dagRuns/~/taskInstances?state=running",
};

interface Plan {
  readonly warmRunsPerDag: number;
  readonly runsPerDag: number;
  readonly rounds: number;
  readonly chains: number;
  readonly requests: number;
}

interface Turn {
  readonly rates: readonly number[];
  readonly cost: Cost;
  readonly lags: Lags;
  /** Milliseconds, by what is listed. */
  readonly lists: Readonly<Record<string, readonly number[]>>;
}

export async function w7(services: Services, quick: boolean): Promise<void> {
  const plan: Plan = quick
    ? { warmRunsPerDag: 1, runsPerDag: 3, rounds: 1, chains: 30, requests: 5 }
    : { warmRunsPerDag: 4, runsPerDag: 5, rounds: 2, chains: 100, requests: 20 };
  const prepare = () =>
    Engine.prepare({ services, schedulers: 1, workers: 1, concurrency: 16, apis: 1 }, ["noop.ts", "shapes.ts"]);
  const [empty, aged] = [await prepare(), await prepare()];
  try {
    const runs = (quick ? 0.1 : 1) * RUNS_PER_DAG;
    const history = await loadHistory(aged.db, /^(noop|short)_/, runs);
    const sides = { empty: [] as Turn[], aged: [] as Turn[] };
    for (let n = 0; n < (quick ? 2 : 4); n++) {
      // Neither is always the later one.
      const order = n % 2 === 0 ? (["empty", "aged"] as const) : (["aged", "empty"] as const);
      for (const side of order) sides[side].push(await takeTurn(side === "empty" ? empty : aged, plan));
    }
    publish({
      id: "W7",
      title: `${DAGS * runs} finished runs with ${history.tasks} task instances, loaded in ${(history.ms / 1000).toFixed(0)} s`,
      rows: rowsOf(sides.empty, sides.aged),
      figures: { history, ...sides },
    });
  } finally {
    await empty.stop();
    await aged.stop();
  }
}

async function takeTurn(engine: Engine, plan: Plan): Promise<Turn> {
  await engine.startProcesses();
  const client = await ApiClient.logIn(engine.apiUrl, 1);
  try {
    await measureRound(engine, plan.warmRunsPerDag);
    const rates: number[] = [];
    let cost: Cost | undefined;
    for (let round = 0; round < plan.rounds; round++) {
      const measured = await measureRound(engine, plan.runsPerDag);
      await assertValid(engine, measured.ids, tasksOf(plan.runsPerDag));
      rates.push((tasksOf(plan.runsPerDag) * 1000) / (await busyMs(engine, measured.ids)));
      cost = measured.cost;
    }
    const dagIds = Array.from({ length: plan.chains }, (_, d) => `short_${d}`);
    const ids = await startPaced(engine, dagIds, PACED_EVERY_MS);
    await runsToEnd(engine, ids, 120_000);
    await assertValid(engine, ids, plan.chains * 10);
    const lags = quantiles(lagsOf(await readTimeline(engine, ids)));
    const lists: Record<string, number[]> = {};
    for (const [name, path] of Object.entries(LISTS)) {
      const times: number[] = [];
      for (let n = 0; n < plan.requests; n++) times.push((await client.send("GET", path)).ms);
      lists[name] = times;
    }
    return { rates, cost: cost as Cost, lags, lists };
  } finally {
    client.close();
    await engine.stopProcesses();
  }
}

/** Of a task: what other work on the machine takes is not in it. */
const totalCpu = (turns: readonly Turn[]): number =>
  median(turns.map((turn) => Object.values(turn.cost.cpu).reduce((sum, micros) => sum + micros, 0)));

function rowsOf(empty: readonly Turn[], aged: readonly Turn[]): Row[] {
  const rates = (turns: readonly Turn[]) => turns.flatMap((turn) => turn.rates);
  const lags = (turns: readonly Turn[]) => turns.map((turn) => turn.lags);
  const p50 = (turns: readonly Turn[]) => median(lags(turns).map((lag) => lag.p50));
  const p95 = (turns: readonly Turn[], name: string) =>
    quantile(
      turns.flatMap((turn) => turn.lists[name] ?? []),
      0.95,
    );
  const cpu = (turns: readonly Turn[]) => showCpu(turns.at(-1)?.cost.cpu ?? ({} as Cost["cpu"]));
  return [
    { metric: "throughput, empty", value: `${spread(rates(empty), 0)} tasks/s` },
    { metric: "  with the history", value: `${spread(rates(aged), 0)} tasks/s` },
    {
      metric: "  ÷ empty",
      value: (median(rates(aged)) / median(rates(empty))).toFixed(2),
      target: "must 0.8, target 0.95",
    },
    { metric: "  CPU µs a task, empty", value: cpu(empty) },
    { metric: "  CPU µs a task, with it", value: cpu(aged) },
    { metric: "  all of it ÷ empty", value: (totalCpu(aged) / totalCpu(empty)).toFixed(2) },
    { metric: "lag, a chain at a time, empty", value: showLags(lags(empty)) },
    { metric: "  with the history", value: showLags(lags(aged)) },
    { metric: "  p50 ÷ empty", value: (p50(aged) / p50(empty)).toFixed(2) },
    ...Object.keys(LISTS).map((name) => ({
      metric: `API, ${name}: p95`,
      value: `${p95(empty, name).toFixed(0)} ms empty, ${p95(aged, name).toFixed(0)} ms with the history`,
    })),
  ];
}
