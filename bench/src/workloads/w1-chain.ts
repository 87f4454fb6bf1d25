// W1: the time from one task's end to the next one's beginning, in a chain.
import type { Services } from "@millrace/testkit/services";
import { Engine } from "../rig/engine.ts";
import { publish } from "../rig/report.ts";
import { assertValid, runsToEnd, startRuns } from "../rig/runs.ts";
import { median, quantile, spread } from "../rig/statistics.ts";
import type { Floor } from "./w0-floor.ts";

const SHAPES = [
  { dagId: "chain_40", tasks: 40, name: "40 × fibo(10)" },
  { dagId: "chain_heavy", tasks: 10, name: "10 × fibo(33)" },
];

export async function w1(services: Services, quick: boolean, floor: Floor): Promise<void> {
  const engine = await Engine.start({ services, schedulers: 1, workers: 1, concurrency: 10 }, ["chain.ts"]);
  try {
    const totals = new Map<string, number[]>();
    const lags: number[] = [];
    for (const shape of SHAPES) {
      for (let i = 0; i < (quick ? 4 : 6); i++) {
        const ids = await startRuns(engine, [shape.dagId], 1);
        await runsToEnd(engine, ids, 30_000);
        await assertValid(engine, ids, shape.tasks);
        if (i === 0) continue; // The warm-up.
        const measured = await measure(engine, ids[0] ?? 0);
        totals.set(shape.dagId, [...(totals.get(shape.dagId) ?? []), measured.totalMs]);
        if (shape.dagId === "chain_40") lags.push(...measured.lagsMs);
      }
    }
    const l2 = 2 * floor.commitMs + floor.hopMs;
    publish({
      id: "W1",
      title: "chain",
      rows: [
        ...SHAPES.map(({ dagId, name }) => ({
          metric: `${name}, total`,
          value: `${spread(totals.get(dagId) ?? [])} ms`,
          ...(dagId === "chain_40" ? { target: "must 400, target 150" } : {}),
        })),
        { metric: "ready → start", value: `${median(lags).toFixed(2)} ms p50, ${quantile(lags, 0.99).toFixed(2)} p99` },
        {
          metric: "÷ L2 (2 commits + 1 hop)",
          value: `${(median(lags) / l2).toFixed(2)}`,
          target: "must 3.0, target 2.0",
        },
      ],
      figures: { totals: Object.fromEntries(totals), lagP50: median(lags), lagP99: quantile(lags, 0.99), l2 },
    });
  } finally {
    await engine.stop();
  }
}

/** Ready is the commit of the upstream's end, start the first line of user code. */
async function measure(engine: Engine, dagRunId: number) {
  const rows = await engine.db.read<{ startMs: number; endMs: number }>(
    `select x.value::text::float8 as "startMs", extract(epoch from l.at)::float8 * 1000 as "endMs"
     from task_instance ti
     join xcom x on x.dag_run_id = ti.dag_run_id and x.task_id = ti.task_id
     join task_instance_transition l on l.row_id = ti.row_id and l.to_state = 'success'
     where ti.dag_run_id = $1 order by substr(ti.task_id, 2)::int`,
    [dagRunId],
  );
  const lagsMs = rows.slice(1).map((row, i) => row.startMs - (rows[i]?.endMs ?? NaN));
  return { lagsMs, totalMs: (rows.at(-1)?.endMs ?? NaN) - (rows[0]?.startMs ?? NaN) };
}
