// What the guard of the state machine costs: the work of W4 in one engine, in rounds with its triggers and without them by
// turns, so that whatever else the machine does is on both sides. It runs within Postgres only: the other processes do the
// same either way, and what they take more or less of is noise.
import type { Services } from "@millrace/testkit/services";
import type { CpuMicros } from "../rig/cpu.ts";
import type { Engine } from "../rig/engine.ts";
import { publish } from "../rig/report.ts";
import { median, spread } from "../rig/statistics.ts";
import { measureRound, startFleet } from "./w4-throughput.ts";

const RUNS_PER_DAG = 6;
const GUARDED = ["task_instance", "dag_run"];

export async function guard(services: Services, quick: boolean): Promise<void> {
  const engine = await startFleet(services, { schedulers: 1, workers: 1 });
  try {
    await stopVacuum(engine);
    await measureRound(engine, RUNS_PER_DAG); // The warm-up.
    const pairs: { readonly without: CpuMicros; readonly guarded: CpuMicros }[] = [];
    for (let n = 0; n < (quick ? 4 : 12); n++) {
      // The tables grow with each round: neither side is always the later one.
      const first = await measureSide(engine, n % 2 === 0);
      const second = await measureSide(engine, n % 2 !== 0);
      pairs.push(n % 2 === 0 ? { guarded: first, without: second } : { guarded: second, without: first });
    }
    const added = pairs.map(({ guarded, without }) => guarded.postgres - without.postgres);
    const share = (100 * median(added)) / median(pairs.map(({ guarded }) => total(guarded)));
    publish({
      id: "guard",
      title: "the guard of the state machine, on the work of W4",
      rows: [
        {
          metric: "CPU µs a task, with it",
          value: spread(
            pairs.map(({ guarded }) => total(guarded)),
            0,
          ),
        },
        {
          metric: "  Postgres, with it",
          value: spread(
            pairs.map(({ guarded }) => guarded.postgres),
            0,
          ),
        },
        {
          metric: "  Postgres, without it",
          value: spread(
            pairs.map(({ without }) => without.postgres),
            0,
          ),
        },
        { metric: "  added, pair by pair", value: spread(added, 0) },
        { metric: "share of a task", value: `${share.toFixed(1)} %`, target: "must 5 %" },
      ],
      figures: { pairs },
    });
  } finally {
    await engine.stop();
  }
}

/** It comes when it likes, and takes as much as what is measured. */
async function stopVacuum(engine: Engine): Promise<void> {
  const tables = await engine.db.read<{ name: string }>("select relname as name from pg_stat_user_tables");
  for (const { name } of tables) await engine.db.read(`alter table ${name} set (autovacuum_enabled = off)`);
}

async function measureSide(engine: Engine, hasGuard: boolean): Promise<CpuMicros> {
  for (const table of GUARDED) {
    await engine.db.read(`alter table ${table} ${hasGuard ? "enable" : "disable"} trigger guard`);
  }
  return (await measureRound(engine, RUNS_PER_DAG)).cost.cpu;
}

const total = (cpu: CpuMicros): number => Object.values(cpu).reduce((sum, micros) => sum + micros, 0);
