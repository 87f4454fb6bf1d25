// W5: chains beside task instances that have to wait, in three ways: for a retry a day away, for a pool without slots, for
// the run before. The product itself made them so. Each is measured in an engine of its own, without them and with them.
import { setTimeout as pause } from "node:timers/promises";
import type { Services } from "@millrace/testkit/services";
import { costOf, showCpu, type Cost } from "../rig/cost.ts";
import { Engine } from "../rig/engine.ts";
import { publish, type Row } from "../rig/report.ts";
import { assertValid, runsToEnd, startPaced, startRuns } from "../rig/runs.ts";
import { lagsOf, quantiles, readTimeline, showLags, type Lags } from "../rig/timeline.ts";

const DAGS = 100;
const TASKS_PER_RUN = 100;
const FRONT_TASKS = 10;
const FRONT_EVERY_MS = 100;
const DAY_MS = 86_400_000;

/** What a blocked run looks like: how many of its task instances are in which state. */
interface Way {
  readonly name: string;
  readonly title: string;
  readonly states: Readonly<Record<string, number>>;
}

const WAYS: readonly Way[] = [
  { name: "retry", title: "a retry a day away", states: { up_for_retry: 1, none: TASKS_PER_RUN - 1 } },
  { name: "pool", title: "a full pool", states: { scheduled: TASKS_PER_RUN } },
  { name: "past", title: "the run before failed", states: { none: TASKS_PER_RUN } },
];

interface Measured {
  readonly lags: Lags;
  readonly cost: Cost;
}

export async function w5(services: Services, quick: boolean): Promise<void> {
  const rows: Row[] = [];
  const figures: Record<string, unknown> = {};
  const chains = quick ? 60 : 300;
  for (const count of quick ? [30_000] : [6_000, 100_000]) {
    for (const way of WAYS) {
      const { without, blocked } = await measureWay(services, way, count, chains);
      rows.push(
        { metric: `${way.title}: 0 blocked, lag`, value: showLags([without.lags]) },
        { metric: `  ${count} blocked`, value: showLags([blocked.lags]) },
        {
          metric: "  p99 ÷ p99 at 0",
          value: (blocked.lags.p99 / without.lags.p99).toFixed(2),
          target: "at 100,000: must 2.0, target 1.2",
        },
        { metric: "  CPU µs a task, at 0", value: showCpu(without.cost.cpu) },
        { metric: `  CPU µs a task, at ${count}`, value: showCpu(blocked.cost.cpu) },
      );
      figures[`${way.name} ${count}`] = { without, blocked };
    }
  }
  const title = `chains beside blocked tasks, ${chains} × ${FRONT_TASKS} tasks, a chain every ${FRONT_EVERY_MS} ms`;
  publish({ id: "W5", title, rows, figures });
}

async function measureWay(services: Services, way: Way, count: number, chains: number) {
  const engine = await Engine.start({ services, schedulers: 1, workers: 1, concurrency: 16 }, ["blocked.ts"]);
  try {
    await engine.db.read("insert into slot_pool (pool, slots) values ('full', 0)");
    await measureFront(engine, chains / 4); // The warm-up.
    const without = await measureFront(engine, chains);
    const ids = await block(engine, way, count);
    await measureFront(engine, chains / 4);
    const blocked = await measureFront(engine, chains);
    await untilBlocked(engine, way, ids, 0);
    return { without, blocked };
  } finally {
    await engine.stop();
  }
}

async function measureFront(engine: Engine, chains: number): Promise<Measured> {
  const tasks = chains * FRONT_TASKS;
  let ids: readonly number[] = [];
  const cost = await costOf(engine, tasks, async () => {
    ids = await startPaced(engine, Array<string>(chains).fill("front"), FRONT_EVERY_MS);
    await runsToEnd(engine, ids, 120_000);
  });
  await assertValid(engine, ids, tasks);
  return { lags: quantiles(lagsOf(await readTimeline(engine, ids))), cost };
}

/** Gives the ids of the runs that wait. */
async function block(engine: Engine, way: Way, count: number): Promise<readonly number[]> {
  const dagIds = Array.from({ length: DAGS }, (_, d) => `${way.name}_${d}`);
  // Of those that look at the run before, the first run fails.
  const isPast = way.name === "past";
  const first = isPast ? await startRuns(engine, dagIds, 1, { logicalDate: () => new Date(0) }) : [];
  for (;;) {
    const [open] = await engine.db.read<{ n: number }>(
      "select count(*)::int as n from dag_run where id = any ($1) and state <> 'failed'",
      [first],
    );
    if (open?.n === 0) break;
    await pause(50);
  }
  const runs = count / TASKS_PER_RUN;
  const dags = dagIds.slice(0, Math.min(DAGS, runs));
  const logicalDate = isPast ? (round: number) => new Date((round + 1) * DAY_MS) : undefined;
  const ids = await startRuns(engine, dags, Math.ceil(runs / dags.length), {
    ...(logicalDate === undefined ? {} : { logicalDate }),
  });
  await untilBlocked(engine, way, ids, 120_000);
  return ids;
}

/** Resolves when all of them wait in the way they should; after as many milliseconds without that it is an error. */
async function untilBlocked(engine: Engine, way: Way, ids: readonly number[], timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = await engine.db.read<{ state: string; n: number }>(
      `select coalesce(state, 'none') as state, count(*)::int as n from task_instance where dag_run_id = any ($1)
       group by state`,
      [ids],
    );
    const expected = Object.entries(way.states);
    const isBlocked = expected.every(([state, n]) => found.find((row) => row.state === state)?.n === n * ids.length);
    if (isBlocked && found.length === expected.length) return;
    if (performance.now() > deadline) throw new Error(`not valid: ${JSON.stringify(found)} in ${ids.length} runs`);
    await pause(100);
  }
}
