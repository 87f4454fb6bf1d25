// W4: tasks a second when there is always work, and what each costs by component.
import type { Services } from "@millrace/testkit/services";
import { costOf, showCpu, type Cost } from "../rig/cost.ts";
import { Engine } from "../rig/engine.ts";
import { publish, type Row } from "../rig/report.ts";
import { assertValid, runsToEnd, startRuns } from "../rig/runs.ts";
import { median, spread } from "../rig/statistics.ts";
import type { Floor } from "./w0-floor.ts";

const DAGS = Array.from({ length: 100 }, (_, d) => `noop_${String(d).padStart(3, "0")}`);
const TASKS_PER_RUN = 10;

export async function w4(services: Services, quick: boolean, floor: Floor): Promise<void> {
  const fleets = quick
    ? [{ schedulers: 1, workers: 1 }]
    : [1, 2, 3].flatMap((s) => [1, 2, 4].map((w) => ({ schedulers: s, workers: w })));
  const rows: Row[] = [];
  const figures: Record<string, unknown> = {};
  for (const fleet of fleets) {
    const outcome = await measureFleet(services, fleet, quick ? 6 : 10, quick ? 2 : 5);
    const name = `${fleet.schedulers} scheduler(s), ${fleet.workers} worker(s)`;
    rows.push(
      { metric: name, value: `${spread(outcome.rates, 0)} tasks/s` },
      {
        metric: "  ÷ R_bull",
        value: (median(outcome.rates) / floor.bullJobsPerSecond).toFixed(3),
        target: "must 0.30, target 0.50",
      },
      {
        metric: "  CPU µs a task",
        value: showCpu(outcome.cpu),
      },
      { metric: "  commits, WAL a task", value: `${outcome.commits.toFixed(2)}, ${outcome.walBytes.toFixed(0)} B` },
    );
    figures[name] = outcome;
  }
  publish({ id: "W4", title: "throughput, no-op tasks in chains of ten", rows, figures });
}

async function measureFleet(
  services: Services,
  fleet: { schedulers: number; workers: number },
  runsPerDag: number,
  rounds: number,
) {
  const engine = await startFleet(services, fleet);
  try {
    const rates: number[] = [];
    const costs: Cost[] = [];
    for (let round = 0; round <= rounds; round++) {
      // The warm-up is as long as a round: every child has then read the DAGs and is compiled.
      const { ids, cost } = await measureRound(engine, runsPerDag);
      await assertValid(engine, ids, tasksOf(runsPerDag));
      if (round === 0) continue; // The warm-up.
      rates.push((tasksOf(runsPerDag) * 1000) / (await busyMs(engine, ids)));
      costs.push(cost);
    }
    return { rates, ...(costs.at(-1) as Cost) };
  } finally {
    await engine.stop();
  }
}

export const startFleet = (services: Services, fleet: { schedulers: number; workers: number }): Promise<Engine> =>
  Engine.start({ services, ...fleet, concurrency: 16 }, ["noop.ts"]);

export const tasksOf = (runsPerDag: number): number => DAGS.length * runsPerDag * TASKS_PER_RUN;

/** What a task costs, of as many runs of each DAG. */
export async function measureRound(
  engine: Engine,
  runsPerDag: number,
): Promise<{ readonly ids: readonly number[]; readonly cost: Cost }> {
  let ids: readonly number[] = [];
  const cost = await costOf(engine, tasksOf(runsPerDag), async () => {
    ids = await startRuns(engine, DAGS, runsPerDag);
    await runsToEnd(engine, ids, 120_000);
  });
  return { ids, cost };
}

/** From the first run's start to the last task's end. */
export async function busyMs(engine: Engine, ids: readonly number[]): Promise<number> {
  const [row] = await engine.db.read<{ ms: number }>(
    `select extract(epoch from max(ti.end_date) - min(r.start_date))::float8 * 1000 as ms
     from dag_run r join task_instance ti on ti.dag_run_id = r.id where r.id = any ($1)`,
    [ids],
  );
  return row?.ms ?? NaN;
}
