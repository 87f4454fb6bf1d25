// W3: how long a task that may start waits until it does, in four shapes of a thousand tasks. Once with all runs started in
// one transaction, where what is waited for is mostly the machine, and once with a run at a time at a rate that leaves the
// machine idle half of the time, where it is the way from one task to the next.
import type { Services } from "@millrace/testkit/services";
import { costOf, showCpu } from "../rig/cost.ts";
import { Engine } from "../rig/engine.ts";
import { publish, type Row } from "../rig/report.ts";
import { assertValid, runsToEnd, startPaced, startRuns } from "../rig/runs.ts";
import { median, spread } from "../rig/statistics.ts";
import { lagsOf, makespanMs, quantiles, readTimeline, showLags, type Lags, type TaskTimes } from "../rig/timeline.ts";
import type { Floor } from "./w0-floor.ts";

const TASKS = 1_000;
const PACED_TASKS_PER_SECOND = 200;
const SHAPES = [
  { name: "short", dags: 100, title: "100 × chain of 10" },
  { name: "long", dags: 10, title: "10 × chain of 100" },
  { name: "tree", dags: 100, title: "100 × binary tree of 10" },
  { name: "grid", dags: 10, title: "10 × grid of 10 × 10" },
] as const;
type Shape = (typeof SHAPES)[number];

export async function w3(services: Services, quick: boolean, floor: Floor): Promise<void> {
  const engine = await Engine.start({ services, schedulers: 1, workers: 1, concurrency: 16 }, ["shapes.ts"]);
  const l2 = 2 * floor.commitMs + floor.hopMs;
  try {
    const rows: Row[] = [];
    const figures: Record<string, unknown> = { l2 };
    for (const shape of SHAPES) {
      await startAtOnce(engine, shape); // The warm-up.
      const atOnce: Lags[] = [];
      const makespans: number[] = [];
      const cost = await costOf(engine, TASKS * (quick ? 2 : 5), async () => {
        for (let round = 0; round < (quick ? 2 : 5); round++) {
          const timeline = await startAtOnce(engine, shape);
          atOnce.push(quantiles(lagsOf(timeline)));
          makespans.push(makespanMs(timeline));
        }
      });
      const paced = quantiles(lagsOf(await startOneByOne(engine, shape)));
      rows.push(
        { metric: `${shape.title}, a run at a time: lag`, value: showLags([paced]) },
        { metric: "  p50 ÷ L2", value: (paced.p50 / l2).toFixed(2), target: "must 3.0, target 2.0" },
        { metric: "  all at once: lag", value: showLags(atOnce) },
        { metric: "  p50 ÷ L2", value: (median(atOnce.map(({ p50 }) => p50)) / l2).toFixed(2) },
        { metric: "  makespan", value: `${spread(makespans, 0)} ms` },
        { metric: "  CPU µs a task", value: showCpu(cost.cpu) },
      );
      figures[shape.name] = { paced, atOnce, makespans, cost };
    }
    const title = `lag from ready to start, 1,000 tasks; L2 = ${l2.toFixed(2)} ms`;
    publish({ id: "W3", title, rows, figures });
  } finally {
    await engine.stop();
  }
}

const dagsOf = ({ name, dags }: Shape): string[] => Array.from({ length: dags }, (_, d) => `${name}_${d}`);

async function startAtOnce(engine: Engine, shape: Shape): Promise<TaskTimes[]> {
  return await finished(engine, await startRuns(engine, dagsOf(shape), 1));
}

async function startOneByOne(engine: Engine, shape: Shape): Promise<TaskTimes[]> {
  const everyMs = (TASKS / shape.dags / PACED_TASKS_PER_SECOND) * 1000;
  return await finished(engine, await startPaced(engine, dagsOf(shape), everyMs));
}

async function finished(engine: Engine, ids: readonly number[]): Promise<TaskTimes[]> {
  await runsToEnd(engine, ids, 120_000);
  await assertValid(engine, ids, TASKS);
  return await readTimeline(engine, ids);
}
