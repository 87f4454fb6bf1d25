// W2: many tasks that are ready at the same moment, on ten slots; and one task that waits for a thousand.
import type { Services } from "@millrace/testkit/services";
import { costOf, showCpu, type Cost } from "../rig/cost.ts";
import { Engine } from "../rig/engine.ts";
import { publish, type Row } from "../rig/report.ts";
import { assertValid, runsToEnd, startRuns } from "../rig/runs.ts";
import { quantile, spread } from "../rig/statistics.ts";
import { makespanMs, readTimeline, type TaskTimes } from "../rig/timeline.ts";

const SLOTS = 10;
const SHAPES = [
  { dagId: "fan_400", tasks: 400, name: "400 × fibo(10)" },
  { dagId: "star_1000", tasks: 1_002, name: "1 → 1,000 → 1" },
];

interface Measured {
  readonly totalMs: number;
  readonly lagP99Ms: number;
  readonly fanInMs: number;
  readonly cost: Cost;
}

export async function w2(services: Services, quick: boolean): Promise<void> {
  const engine = await Engine.start({ services, schedulers: 1, workers: 1, concurrency: SLOTS }, ["fan.ts"]);
  try {
    const rows: Row[] = [];
    const figures: Record<string, unknown> = {};
    for (const shape of SHAPES) {
      const measured: Measured[] = [];
      for (let round = 0; round <= (quick ? 3 : 5); round++) {
        const one = await measure(engine, shape);
        if (round > 0) measured.push(one); // The first is the warm-up.
      }
      const show = (of: (one: Measured) => number) => `${spread(measured.map(of), 0)} ms`;
      const isFan = shape.dagId === "fan_400";
      rows.push(
        {
          metric: `${shape.name} on ${SLOTS} slots, total`,
          value: show((one) => one.totalMs),
          ...(isFan ? { target: "must 600 ms, target 300 ms" } : {}),
        },
        { metric: "  ready → start, p99", value: show((one) => one.lagP99Ms) },
        ...(isFan ? [] : [{ metric: "  fan-in: last of 1,000 ended → start", value: show((one) => one.fanInMs) }]),
        { metric: "  CPU µs a task", value: showCpu(measured.at(-1)?.cost.cpu ?? ({} as Cost["cpu"])) },
      );
      figures[shape.dagId] = measured;
    }
    publish({ id: "W2", title: `fan, 1 scheduler, 1 worker of ${SLOTS} slots`, rows, figures });
  } finally {
    await engine.stop();
  }
}

async function measure(engine: Engine, { dagId, tasks }: (typeof SHAPES)[number]): Promise<Measured> {
  let ids: number[] = [];
  const cost = await costOf(engine, tasks, async () => {
    ids = await startRuns(engine, [dagId], 1);
    await runsToEnd(engine, ids, 60_000);
  });
  await assertValid(engine, ids, tasks);
  const timeline = await readTimeline(engine, ids);
  const isRay = ({ taskId }: TaskTimes) => taskId.startsWith("t");
  return {
    totalMs: makespanMs(timeline),
    lagP99Ms: quantile(
      timeline.filter(isRay).map((task) => task.lagMs),
      0.99,
    ),
    fanInMs: timeline.find((task) => task.taskId === "last")?.lagMs ?? NaN,
    cost,
  };
}
