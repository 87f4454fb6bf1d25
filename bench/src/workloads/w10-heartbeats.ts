// W10: what it costs that 1,000 running tasks are said to live, with the default interval: the statement of each worker,
// and what Postgres does for it. Beside it the same time with nothing to say, since a Postgres without work does something.
import { setTimeout as pause } from "node:timers/promises";
import { Database, heartbeatAttempts } from "@millrace/shared/db";
import { Periodic } from "@millrace/shared/lifecycle";
import { createLogger } from "@millrace/shared/observability";
import type { Services } from "@millrace/testkit/services";
import { cpuMicros } from "../rig/cpu.ts";
import { Engine } from "../rig/engine.ts";
import { publish } from "../rig/report.ts";

const TASKS = 1_000;
const WORKERS = 10;
const EVERY_SECONDS = 5;

export async function w10(services: Services, quick: boolean): Promise<void> {
  const seconds = quick ? 20 : 120;
  const engine = await Engine.start({ services, schedulers: 0, workers: 0, concurrency: 1 }, []);
  const log = createLogger({ level: "silent", name: "bench" });
  const workers = Array.from(
    { length: WORKERS },
    (_, i) =>
      new Database({ url: engine.db.url, applicationName: `worker ${i}`, maxConnections: 2, maxRetries: 0, log }),
  );
  try {
    const attempts = await seedRunning(engine.db);
    const postgresMicros = () => cpuMicros([]).postgres;
    const measure = async (ofWorker: (worker: number) => readonly string[]) => {
      const beats = workers.map((db, i) => {
        const run = async () => void (await db.beat(heartbeatAttempts, [ofWorker(i), i]));
        return new Periodic({ everyMs: EVERY_SECONDS * 1_000, run, onError: (error) => console.error(error) });
      });
      for (const beat of beats) await beat.start();
      await pause(EVERY_SECONDS * 1_000); // connections are open, statements are planned
      const [own, postgres] = [process.cpuUsage(), postgresMicros()];
      await pause(seconds * 1_000);
      const used = process.cpuUsage(own);
      const cost = { workers: used.user + used.system, postgres: postgresMicros() - postgres };
      for (const beat of beats) await beat.stop();
      return cost;
    };
    const idle = await measure(() => []);
    const busy = await measure((worker) => attempts.filter((_, i) => i % WORKERS === worker));
    const percent = (micros: number) => micros / (seconds * 10_000);
    const cost = { workers: percent(busy.workers - idle.workers), postgres: percent(busy.postgres - idle.postgres) };
    const say = (value: number) => `${value.toFixed(2)} % of a core`;
    publish({
      id: "W10",
      title: `heartbeats of ${TASKS} running tasks on ${WORKERS} workers, every ${EVERY_SECONDS} s, over ${seconds} s`,
      rows: [
        { metric: "all of it", value: say(cost.workers + cost.postgres), target: "1 % of a core" },
        { metric: "  workers", value: say(cost.workers) },
        { metric: "  Postgres", value: say(cost.postgres) },
      ],
      figures: { cost, idle, busy, seconds },
    });
  } finally {
    await Promise.all(workers.map((db) => db.close()));
    await engine.stop();
  }
}

async function seedRunning(db: Database): Promise<string[]> {
  await db.read(
    `insert into dag (dag_id, is_paused, bundle_name, max_active_tasks, max_active_runs) values ('beats', false, 'dags-folder', 16, 16)`,
  );
  await db.read(
    `insert into dag_run (dag_id, run_id, run_type, state, run_after, conf) values ('beats', 'r', 'manual', 'running', now(), '{}')`,
  );
  const rows = await db.read<{ id: string }>(
    `insert into task_instance (id, dag_run_id, dag_id, run_id, run_after, task_id, state, epoch, try_number, start_date,
       worker_job_id, latest_heartbeat)
     select gen_random_uuid(), r.id, r.dag_id, r.run_id, r.run_after, 't' || n, 'running', 3, 1, now(), n % $2::int, now()
     from generate_series(0, $1::int - 1) n cross join dag_run r where r.dag_id = 'beats' order by n returning id`,
    [TASKS, WORKERS],
  );
  await db.read("analyze task_instance");
  return rows.map((row) => row.id);
}
