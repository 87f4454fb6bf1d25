// One trial: a fleet, its load and what is done to them; then everything is healed, comes to rest, and is checked. What
// failed is kept as one folder.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { waitUntil } from "@millrace/testkit/rig";
import { check, INVARIANTS, type Broken } from "./check/check.ts";
import { readEffects } from "./check/effects.ts";
import { readHistory, type History } from "./check/history.ts";
import type { Evidence } from "./check/invariants.ts";
import { Load } from "./load/load.ts";
import type { Done } from "./monkey/monkey.ts";
import { Fleet, TIMES, type FleetOptions } from "./rig/fleet.ts";
import { watchSessions } from "./rig/watch-sessions.ts";

const QUIESCE_MS = 60_000;

export interface Trial {
  readonly name: string;
  readonly seed: number;
  readonly fleet?: FleetOptions;
  /** What is done to the fleet, for as long as it takes. */
  readonly inflict: (fleet: Fleet, load: Load) => Promise<Inflicted>;
}

export interface Inflicted {
  readonly faults: readonly Done[];
  /** How many of them took place. */
  readonly count: number;
  /** What was planned, and must be kept to understand a failure. */
  readonly plan: unknown;
  readonly broken?: readonly Broken[];
}

export interface Outcome {
  readonly name: string;
  readonly broken: readonly Broken[];
  readonly figures: Figures | undefined;
}

export interface Figures {
  readonly faults: number;
  readonly runs: number;
  readonly attempts: number;
  readonly losses: number;
  readonly callbacks: number;
  readonly quiesceSeconds: number;
}

export const CHECKS = Object.keys(INVARIANTS).length + 4;

export async function runTrial(trial: Trial, keepIn: string): Promise<Outcome> {
  const fleet = await Fleet.start(trial.fleet);
  try {
    const load = new Load(fleet, trial.seed);
    const watch = watchSessions(fleet);
    load.start();
    const { faults, count, plan, broken: more = [] } = await trial.inflict(fleet, load);
    await load.stop();
    await watch.stop();
    const rest = performance.now();
    await fleet.heal();
    // No further runs of the schedule; those that are there go on to their end.
    await fleet.servers.query(
      "update dag set next_dagrun_create_after = now() + interval '1 year' where dag_id = 'chaos_ticking'",
    );
    const restless = await comesToRest(fleet);
    const quiesceSeconds = (performance.now() - rest) / 1000;
    // What a process that lost its attempt still does is to be in the log.
    await sleep(1_500);
    const client = await fleet.servers.client();
    const history = await readHistory(client);
    await client.end();
    const evidence: Evidence = {
      history,
      effects: await readEffects(fleet.effectsFile),
      acknowledged: load.acknowledged,
      touched: load.touched,
      faults,
      times: { ...TIMES, late: watch.lateSeconds() },
    };
    const broken: Broken[] = [
      ...more,
      ...check(evidence),
      ...asBroken("comes to rest", restless),
      ...asBroken("requests are not refused", load.refused),
      ...asBroken("no process ends or errs by itself", fleet.violations),
      ...asBroken("no session holds on", watch.found),
    ];
    const outcome = { name: trial.name, broken, figures: figuresOf(history, count, quiesceSeconds) };
    if (broken.length > 0) {
      await keep(join(keepIn, trial.name), fleet, { outcome, plan, faults, history, touched: [...load.touched] });
    }
    return outcome;
  } finally {
    await fleet.stop();
    await fleet.remove();
  }
}

const asBroken = (invariant: string, by: readonly string[]): Broken[] => (by.length === 0 ? [] : [{ invariant, by }]);

async function comesToRest(fleet: Fleet): Promise<string[]> {
  const open = `
    select 'run ' || run_id || ' of ' || dag_id || ' is ' || state as what from dag_run where state in ('queued', 'running')
    union all
    select 'callback ' || kind || ' of run ' || dag_run_id || ' is ' || state from callback where state in ('pending', 'running')`;
  return await waitUntil(async () => (await fleet.servers.query(open)).length === 0, {
    what: "everything has come to rest",
    timeoutMs: QUIESCE_MS,
    intervalMs: 200,
  }).then(
    () => [],
    async () => (await fleet.servers.query<{ what: string }>(open)).map((row) => row.what),
  );
}

function figuresOf(history: History, faults: number, quiesceSeconds: number): Figures {
  return {
    faults,
    runs: history.runs.length,
    attempts: history.changes.filter((change) => change.to === "running").length,
    losses: history.losses.length,
    callbacks: history.callbacks.length,
    quiesceSeconds: Math.round(quiesceSeconds * 10) / 10,
  };
}

async function keep(folder: string, fleet: Fleet, things: Readonly<Record<string, unknown>>): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, value] of Object.entries(things)) {
    await writeFile(join(folder, `${name}.json`), JSON.stringify(value, null, 1));
  }
  await fleet.keep(folder);
}
