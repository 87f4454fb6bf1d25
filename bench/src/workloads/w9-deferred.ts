// W9: many tasks deferred at once on two triggerers. What a wait costs while nothing happens, how fast tasks resume when
// all are due at the same moment, and how late they are when one triggerer is killed while they become due.
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { Services } from "@millrace/testkit/services";
import { outcomeOfWaits, seedWaits, type SeedWaits, type WaitsOutcome } from "@millrace/testkit/waits";
import { Engine } from "../rig/engine.ts";
import { publish, type Row } from "../rig/report.ts";

const TRIGGERERS = 2;
const LOST_AFTER_S = 3;

export async function w9(services: Services, quick: boolean): Promise<void> {
  const rows: Row[] = [];
  const figures: Record<string, unknown> = {};
  for (const count of quick ? [1_000, 10_000] : [1_000, 10_000, 100_000]) {
    const loadSeconds = 1.5 + count / 10_000;
    const held = await measureHeld(services, count);
    const burst = await measure(services, { count, firstSeconds: loadSeconds, spreadSeconds: 0 }, false);
    const spreadSeconds = Math.max(3, count / 2_500);
    const calm = await measure(services, { count, firstSeconds: loadSeconds, spreadSeconds }, false);
    const killed = await measure(services, { count, firstSeconds: loadSeconds, spreadSeconds }, true);
    figures[count] = { held, burst, calm, killed };
    const late = (outcome: WaitsOutcome) =>
      `p50 ${outcome.lateMsP50.toFixed(0)} ms, p99 ${outcome.lateMsP99.toFixed(0)} ms, max ${outcome.lateMsMax.toFixed(0)} ms`;
    rows.push(
      { metric: `${count} waits: taken within`, value: `${held.takenMs.toFixed(0)} ms` },
      {
        metric: "  RSS a wait, over an idle triggerer",
        value: `${held.bytesAWait.toFixed(0)} B (${TRIGGERERS} triggerers: ${held.idleMb.toFixed(0)} → ${held.heldMb.toFixed(0)} MiB)`,
      },
      {
        metric: "  all due at one moment",
        value: `${(count / (burst.lateMsMax / 1000)).toFixed(0)} resumes/s, lateness ${late(burst)}`,
      },
      {
        metric: `  due over ${spreadSeconds} s`,
        value: `lateness ${late(calm)}`,
        target: "10k: must 1 s; 100k: target 100 ms",
      },
      { metric: "  the same, one triggerer killed half-way", value: `lateness ${late(killed)}; 0 lost, 0 twice` },
    );
  }
  publish({
    id: "W9",
    title: `deferred, on ${TRIGGERERS} triggerers, one taken for dead after ${LOST_AFTER_S} s`,
    rows,
    figures,
  });
}

const start = (services: Services): Promise<Engine> =>
  Engine.start(
    {
      ...{ services, schedulers: 0, workers: 0, concurrency: 1, triggerers: TRIGGERERS },
      env: {
        MILLRACE__TRIGGERER__CAPACITY: "1000000",
        MILLRACE__TRIGGERER__JOB_HEARTBEAT_SEC: "1",
        MILLRACE__TRIGGERER__TRIGGERER_HEALTH_CHECK_THRESHOLD: String(LOST_AFTER_S),
      },
    },
    [],
  );

const queryOf =
  (engine: Engine) =>
  <R>(sql: string, params: readonly unknown[] = []): Promise<R[]> =>
    engine.db.read<R>(sql, params);

async function measureHeld(services: Services, count: number) {
  const engine = await start(services);
  try {
    await pause(500);
    const idle = rssBytes(engine);
    await seedWaits(queryOf(engine), { count, firstSeconds: 3_600, spreadSeconds: 3_600 });
    const begin = performance.now();
    engine.broker.callTriggerers();
    await until(async () => (await countOf(engine, "triggerer_id is not null")) === count, "all are taken");
    const takenMs = performance.now() - begin;
    await pause(1_500);
    const held = rssBytes(engine);
    return { takenMs, idleMb: idle / 2 ** 20, heldMb: held / 2 ** 20, bytesAWait: (held - idle) / count };
  } finally {
    await engine.stop();
  }
}

async function measure(services: Services, waits: SeedWaits, isKilled: boolean): Promise<WaitsOutcome> {
  const engine = await start(services);
  try {
    const query = queryOf(engine);
    const run = await seedWaits(query, waits);
    engine.broker.callTriggerers();
    if (isKilled) {
      await until(async () => (await countOf(engine, "true")) <= waits.count / 2, "half of them are over");
      engine.processes[0]?.child.kill("SIGKILL");
    }
    await until(async () => (await countOf(engine, "true")) === 0, "all are over");
    const outcome = await outcomeOfWaits(query, run);
    if (outcome.waiting > 0 || outcome.resumed !== waits.count || outcome.twice > 0 || outcome.early > 0) {
      throw new Error(`not valid: ${JSON.stringify(outcome)}, expected ${waits.count} resumes`);
    }
    return outcome;
  } finally {
    await engine.stop();
  }
}

async function countOf(engine: Engine, condition: string): Promise<number> {
  const [row] = await engine.db.read<{ n: number }>(`select count(*)::int as n from trigger where ${condition}`);
  return row?.n ?? 0;
}

async function until(check: () => Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + 240_000;
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error(`waited too long until ${what}`);
    await pause(50);
  }
}

/** Resident memory of the triggerers, without what they only map of files. */
function rssBytes(engine: Engine): number {
  return engine.processes.reduce((sum, { child }) => {
    const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
    return sum + Number(/RssAnon:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
  }, 0);
}
