// One trial: a fleet, its load and what is done to them; then everything is healed, comes to rest, and is checked. What
// failed is kept as one folder.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { waitUntil } from "@millrace/testkit/rig";
import { check, INVARIANTS, type Broken } from "./check/check.ts";
import { readEffects } from "./check/effects.ts";
import { CLOCK_CHANGES } from "./check/expected.ts";
import { readHistory, type History } from "./check/history.ts";
import type { Evidence } from "./check/invariants.ts";
import { Answers } from "./load/answers.ts";
import { Load } from "./load/load.ts";
import type { Done } from "./monkey/monkey.ts";
import { Fleet, TIMES, type FleetOptions } from "./rig/fleet.ts";
import { whoHoldsTooMuch } from "./rig/watch-resources.ts";
import { watchSessions } from "./rig/watch-sessions.ts";

/** With fewer that the API took, the faults had nothing to break. */
const LEAST_RUNS = 5;
/** A machine that is busy takes longer and is not at fault as long as something goes on. */
const STANDSTILL_MS = 60_000;
/** From when everybody is back. A machine that others use decides by three times as much; what it took is told anyway. */
export const QUIESCE_SECONDS = 30;
const QUIESCE_MS = 3 * QUIESCE_SECONDS * 1_000;

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
  readonly mapped: number;
  readonly events: number;
  readonly answers: number;
  /** Until every process was back, and from then on until everything had ended. */
  readonly healSeconds: number;
  readonly quiesceSeconds: number;
  /** What ended last. */
  readonly last: string;
  /** By how much the machine was late at worst. */
  readonly lateSeconds: number;
}

export const CHECKS = Object.keys(INVARIANTS).length + 6;

export async function runTrial(trial: Trial, keepIn: string): Promise<Outcome> {
  const fleet = await Fleet.start(trial.fleet);
  try {
    const load = new Load(fleet, trial.seed);
    const watch = watchSessions(fleet);
    const answers = new Answers(fleet, trial.seed);
    load.start();
    answers.start();
    // Logged in and taken: before that, faults have nothing to break.
    await waitUntil(() => load.acknowledged.length > 0, { what: "the first run is taken", timeoutMs: 120_000 });
    const { faults, count, plan, broken: more = [] } = await trial.inflict(fleet, load);
    await load.stop();
    await watch.stop();
    const over = performance.now();
    await fleet.heal();
    const healed = performance.now();
    const rest = await comesToRest(fleet);
    const rested = performance.now();
    await answers.stop();
    // What a process that lost its attempt still does is to be in the log.
    await sleep(1_500);
    const greedy = await whoHoldsTooMuch(fleet);
    const client = await fleet.servers.client();
    const history = await readHistory(client);
    await client.end();
    const evidence: Evidence = {
      history,
      effects: await readEffects(fleet.effectsFile),
      acknowledged: load.acknowledged,
      operated: load.operated,
      touched: load.touched,
      deleted: load.deleted,
      answers: answers.sent,
      faults,
      outages: outagesIn(fleet),
      times: { ...TIMES, late: watch.lateSeconds() },
    };
    const broken: Broken[] = [
      ...more,
      ...check(evidence),
      ...asBroken("comes to rest", rest.left),
      ...asBroken("requests are not refused", load.refused),
      ...asBroken(
        "there was a load",
        load.acknowledged.length >= LEAST_RUNS ? [] : [`${load.acknowledged.length} runs`],
      ),
      ...asBroken("no process ends or errs by itself", fleet.violations),
      ...asBroken("no session holds on", watch.found),
      ...asBroken("files and connections do not grow", greedy),
    ];
    const outcome = {
      name: trial.name,
      broken,
      figures: figuresOf(history, count, watch.lateSeconds(), {
        healSeconds: inTenths((healed - over) / 1_000),
        quiesceSeconds: inTenths((rested - healed) / 1_000),
        last: rest.last,
      }),
    };
    if (broken.length > 0) {
      await keep(join(keepIn, trial.name), fleet, {
        outcome,
        plan,
        faults,
        history,
        touched: [...load.touched],
        deleted: [...load.deleted],
      });
    }
    return outcome;
  } catch (error) {
    await keep(join(keepIn, trial.name), fleet, { error: String(error) });
    throw error;
  } finally {
    await fleet.stop();
    await fleet.remove();
  }
}

const asBroken = (invariant: string, by: readonly string[]): Broken[] => (by.length === 0 ? [] : [{ invariant, by }]);

/** Between two runs that are caught up there may be none that is open. */
const UNBEGUN = Object.entries(CLOCK_CHANGES)
  .map(
    ([dagId, dates]) =>
      `select 'not all runs of ${dagId} have begun' where (select count(*) from dag_run where dag_id = '${dagId}') < ${dates.length}`,
  )
  .join(" union all ");

async function comesToRest(fleet: Fleet): Promise<{ readonly left: string[]; readonly last: string }> {
  const open = `
    select format('run %s of %s is %s: %s', r.run_id, r.dag_id, r.state, coalesce((
      select string_agg(concat_ws(' ', i.task_id, i.state, t.waits), ', ') from task_instance i
      left join lateral (
        select format('(answered %s, its triggerer %s heard of %s ago)', coalesce(h.responded_at::text, 'never'),
          t.triggerer_id, now() - j.latest_heartbeat) as waits
        from trigger t left join hitl_detail h on h.ti_id = i.id left join job j on j.id = t.triggerer_id
        where t.id = i.trigger_id
      ) t on true
      where i.dag_run_id = r.id and i.state not in ('success', 'failed', 'skipped', 'upstream_failed')), '-')) as what
    from dag_run r where r.state in ('queued', 'running')
    union all
    ${UNBEGUN}
    union all
    select 'an event of asset ' || asset_id || ' waits for ' || target_dag_id from asset_dag_run_queue
    union all
    select 'callback ' || kind || ' of run ' || dag_run_id || ' is ' || state from callback where state in ('pending', 'running')`;
  // Each of them grows with every change: of an attempt, of a run, of a callback.
  const progress = `
    select (select count(*) from task_instance_transition) || ' ' || (select count(*) from dag_run_transition) || ' ' ||
      (select count(*) from callback where state in ('success', 'failed')) as at`;
  const begun = performance.now();
  let seen: string | undefined;
  let changed = begun;
  let last = "nothing";
  for (;;) {
    // No further runs of the schedule; those that are there go on to their end. Again and again: whoever ends a run or
    // reads the file anew says when the next is due.
    await fleet.servers.query(
      `update dag set next_dagrun_create_after = now() + interval '1 year'
       where dag_id = 'chaos_ticking' and next_dagrun_create_after < now() + interval '1 month'`,
    );
    const left = await fleet.servers.query<{ what: string }>(open);
    if (left.length === 0) return { left: [], last };
    last = left[0]?.what ?? last;
    const at = (await fleet.servers.query<{ at: string }>(progress))[0]?.at;
    const now = performance.now();
    if (at !== seen) changed = now;
    seen = at;
    if (now - changed > STANDSTILL_MS || now - begun > QUIESCE_MS) return { left: left.map((row) => row.what), last };
    await sleep(200);
  }
}

/** Told by the schedulers themselves. */
function outagesIn(fleet: Fleet): number[] {
  const told = /"time":"([^"]+)".*the database did not answer in time/;
  const lines = fleet.of("scheduler").flatMap((member) => [...member.logs, ...member.lines]);
  return lines.flatMap((line) => Date.parse(told.exec(line)?.[1] ?? "") || []);
}

const inTenths = (seconds: number): number => Math.round(seconds * 10) / 10;

type Rest = Pick<Figures, "healSeconds" | "quiesceSeconds" | "last">;

function figuresOf(history: History, faults: number, lateSeconds: number, rest: Rest): Figures {
  return {
    faults,
    runs: history.runs.length,
    attempts: history.changes.filter((change) => change.to === "running").length,
    losses: history.losses.length,
    callbacks: history.callbacks.length,
    mapped: history.tasks.filter((task) => task.taskId === "each" && task.mapIndex >= 0).length,
    events: history.assetEvents.length,
    answers: history.tasks.filter((task) => task.taskId === "asked" && task.state === "success").length,
    ...rest,
    lateSeconds: inTenths(lateSeconds),
  };
}

async function keep(folder: string, fleet: Fleet, things: Readonly<Record<string, unknown>>): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, value] of Object.entries(things)) {
    await writeFile(join(folder, `${name}.json`), JSON.stringify(value, null, 1));
  }
  await fleet.keep(folder);
}
