// W6: a list, a task mapped over it, and one that takes all that came of it: how long the expansion takes, how long the
// whole, and what the processes need of memory and CPU time meanwhile. Beside the longest, short runs of another DAG, one
// after the other: how much longer they take than without it.
import { readFileSync } from "node:fs";
import type { Services } from "@millrace/testkit/services";
import { cpuBetween, cpuMicros, type CpuMicros } from "../rig/cpu.ts";
import { Engine } from "../rig/engine.ts";
import { publish, type Row } from "../rig/report.ts";
import { runsToEnd, startRuns } from "../rig/runs.ts";
import { median, spread } from "../rig/statistics.ts";

const LENGTHS = [100, 1_000, 10_000];
const LONGEST = 10_000;

export async function w6(services: Services, quick: boolean): Promise<void> {
  const engine = await Engine.start(
    {
      services,
      schedulers: 1,
      workers: 1,
      concurrency: 32,
      // What is queued stands before the runs beside it, whatever their priority.
      env: { MILLRACE__CORE__MAX_MAP_LENGTH: "10000", MILLRACE__CORE__PARALLELISM: "128" },
    },
    ["mapped.ts"],
  );
  try {
    const roots = engine.processes.map(({ name, child }) => ({ name, pid: child.pid ?? 0 }));
    const spent = (): CpuMicros => cpuMicros(roots);
    const alone = await besideRuns(engine, 10, () => false);
    const beside: number[] = [];
    const rows: Row[] = [];
    const figures: Record<string, unknown> = {};
    for (const length of LENGTHS) {
      const measured: Measured[] = [];
      for (let round = 0; round < (quick ? 2 : 4); round++) {
        const before = spent();
        const [id] = await startRuns(engine, ["mapped"], 1, { conf: { n: length } });
        let isOver = false;
        const others = length === LONGEST && round === 0 ? besideRuns(engine, Infinity, () => isOver) : [];
        await runsToEnd(engine, [id ?? 0], 300_000);
        isOver = true;
        beside.push(...(await others));
        await assertMapped(engine, id ?? 0, length);
        // The first is the warm-up.
        if (round > 0) measured.push({ ...(await measure(engine, id ?? 0)), cpu: cpuBetween(before, spent()) });
      }
      const total = measured.map((one) => one.totalMs / 1_000);
      rows.push(
        {
          metric: `${length} instances, whole run`,
          value: `${spread(total, 2)} s`,
          ...(length === 10_000 ? { target: "must 15, target 6" } : {}),
        },
        {
          metric: "  list ended → all instances there",
          value: `${spread(
            measured.map((one) => one.expandMs),
            0,
          )} ms`,
        },
        { metric: "  tasks/s", value: (length / median(total)).toFixed(0) },
        { metric: "  CPU µs an instance", value: costs(measured, length) },
        { metric: "  peak RSS so far", value: peaks(engine) },
      );
      figures[String(length)] = measured;
    }
    rows.push(
      { metric: "run of 10 tasks in a row, alone", value: `${spread(alone, 0)} ms` },
      { metric: `  beside ${LONGEST} instances`, value: `${spread(beside, 0)} ms` },
    );
    publish({ id: "W6", title: "mapped tasks", rows, figures: { ...figures, alone, beside } });
  } finally {
    await engine.stop();
  }
}

interface Times {
  readonly totalMs: number;
  readonly expandMs: number;
}

interface Measured extends Times {
  readonly cpu: CpuMicros;
}

/** Runs of another DAG, one after the other: how long each took, in milliseconds. */
async function besideRuns(engine: Engine, atMost: number, isOver: () => boolean): Promise<number[]> {
  const took: number[] = [];
  while (took.length < atMost && !isOver()) {
    const begun = performance.now();
    await runsToEnd(engine, await startRuns(engine, ["beside"], 1), 120_000);
    took.push(performance.now() - begun);
  }
  return took;
}

function costs(measured: readonly Measured[], length: number): string {
  const parts = ["scheduler", "worker", "tasks", "postgres"] as const;
  return parts
    .map((part) => `${part} ${(median(measured.map(({ cpu }) => cpu[part])) / length).toFixed(0)}`)
    .join(", ");
}

/** From the start of the run to its end, and from the list's end to the first instances that are scheduled. */
async function measure(engine: Engine, dagRunId: number): Promise<Times> {
  const [row] = await engine.db.read<Times>(
    `select extract(epoch from max(r.end_date) - max(r.start_date))::float8 * 1000 as "totalMs",
       extract(epoch from min(l.at) filter (where ti.task_id = 'each' and l.to_state = 'scheduled')
         - min(l.at) filter (where ti.task_id = 'list' and l.to_state = 'success'))::float8 * 1000 as "expandMs"
     from dag_run r join task_instance ti on ti.dag_run_id = r.id join task_instance_transition l on l.row_id = ti.row_id
     where r.id = $1`,
    [dagRunId],
  );
  return row ?? { totalMs: NaN, expandMs: NaN };
}

/** The validity gate: every instance succeeded exactly once, and the sum is that of all of them. */
async function assertMapped(engine: Engine, dagRunId: number, length: number): Promise<void> {
  const [found] = await engine.db.read<{ good: number; tasks: number; sum: number }>(
    `select count(*)::int as tasks, count(*) filter (where state = 'success' and try_number = 1)::int as good,
       (select value::text::float8 from xcom where dag_run_id = $1 and task_id = 'sum' and key = 'return_value') as sum
     from task_instance where dag_run_id = $1`,
    [dagRunId],
  );
  if (found?.tasks !== length + 2 || found.good !== length + 2 || found.sum !== length * (length - 1)) {
    throw new Error(`not valid: ${JSON.stringify(found)}, expected ${length} instances`);
  }
}

/** The most that each process has had in memory. */
function peaks(engine: Engine): string {
  const peakOf = (pid: number) => /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return engine.processes
    .map(({ name, child }) => `${name} ${(Number(peakOf(child.pid ?? 0)) / 1024).toFixed(0)} MB`)
    .join(", ");
}
