// The times that are promised, measured: how long a loss stays unseen, how long nothing starts when a scheduler, Redis or
// Postgres goes. Each has its bound; what was measured is printed beside it.
import { setTimeout as sleep } from "node:timers/promises";
import { waitUntil } from "@millrace/testkit/rig";
import { ApiClient } from "../load/api-client.ts";
import { Fleet } from "../rig/fleet.ts";

export interface Figure {
  readonly what: string;
  /** Undefined when it could not be measured. */
  readonly seconds: number | undefined;
  readonly atMost: number;
  readonly detail: string;
}

/** Longer than any time that is promised and forgiven: what takes this long does not come. */
const LONGEST_MS = 120_000;

type Scenario = (rig: Rig) => Promise<Figure>;

/** A fleet with steady work: there is always something that could start. */
class Rig {
  readonly fleet: Fleet;
  readonly #api: ApiClient;
  #triggered = 0;

  constructor(fleet: Fleet) {
    this.fleet = fleet;
    this.#api = new ApiClient(fleet);
  }

  async trigger(dagId: string, conf: object = {}): Promise<string> {
    const key = `speed-${++this.#triggered}`;
    return await waitUntil(
      async () => {
        const answer = await this.#api.send(
          "POST",
          `/api/v2/dags/${dagId}/dagRuns`,
          { conf },
          { "idempotency-key": key },
        );
        // The API's own answer, of its documented shape.
        return answer?.status === 200 ? (answer.body as { dag_run_id: string }).dag_run_id : undefined;
      },
      { what: `a run of ${dagId} is triggered`, timeoutMs: LONGEST_MS, intervalMs: 100 },
    );
  }

  async query<R extends Record<string, unknown>>(sql: string, params: readonly unknown[] = []): Promise<R[]> {
    return await this.fleet.servers.query<R>(sql, params);
  }

  /** Milliseconds since the epoch of the first change to `state` at or after `from`. */
  async firstAfter(state: string, from: number, timeoutMs: number): Promise<number> {
    const { at } = await waitUntil(
      async () =>
        (
          await this.query<{ at: number }>(
            `select (extract(epoch from at) * 1000)::float8 as at from task_instance_transition
             where to_state = $1 and at >= to_timestamp($2) order by at limit 1`,
            [state, from / 1000],
          )
        )[0],
      { what: `something is ${state} again`, timeoutMs, intervalMs: 50 },
    );
    return at;
  }

  async idle(): Promise<void> {
    const open = `select from dag_run where state in ('queued', 'running') and dag_id <> 'chaos_ticking'`;
    await waitUntil(async () => (await this.query(open)).length === 0, {
      what: "everything has ended",
      timeoutMs: LONGEST_MS,
      intervalMs: 100,
    });
  }
}

const lostWorker =
  (name: string, atMost: number): Scenario =>
  async (rig) => {
    const runId = await rig.trigger("chaos_paced", { ms: 60_000 });
    const { pid } = await waitUntil(
      async () =>
        (
          await rig.query<{ pid: number }>("select pid from task_instance where run_id = $1 and state = 'running'", [
            runId,
          ])
        )[0],
      { what: "the task runs", timeoutMs: LONGEST_MS },
    );
    const worker = rig.fleet.of("worker").find((member) => member.pid === pid);
    // In the midst between two heartbeats, so that none of them is lucky.
    await sleep(700);
    const killed = Date.now();
    worker?.kill();
    const found = await rig.firstAfter("up_for_retry", killed, LONGEST_MS);
    await rig.query("update dag set is_paused = true where dag_id = 'chaos_paced'");
    return { what: name, seconds: (found - killed) / 1000, atMost, detail: "from the kill to the retry" };
  };

const schedulerKilled: Scenario = async (rig) => {
  let stopped = false;
  const load = (async () => {
    while (!stopped) {
      await rig.trigger("chaos_chain");
      await sleep(120);
    }
  })();
  await sleep(4_000);
  const killed = Date.now();
  rig.fleet.named("scheduler-1").kill();
  await sleep(6_000);
  stopped = true;
  await load;
  const [row] = await rig.query<{ gap: number }>(
    `select max(extract(epoch from at - before))::float8 as gap
     from (select at, lag(at) over (order by at) as before from task_instance_transition where to_state = 'queued') t
     where at between to_timestamp($1) and to_timestamp($2)`,
    [killed / 1000, killed / 1000 + 5],
  );
  await rig.idle();
  return {
    what: "one of two schedulers killed",
    seconds: row?.gap,
    atMost: 2,
    detail: "longest time in which nothing was queued",
  };
};

const redisGone =
  (seconds: number): Scenario =>
  async (rig) => {
    const back = rig.fleet.servers.restartRedis(seconds * 1_000).then(() => Date.now());
    await sleep(500);
    for (let n = 0; n < 4; n++) await rig.trigger("chaos_chain");
    const ready = await back;
    const first = await rig.firstAfter("running", ready - 50, LONGEST_MS);
    await rig.idle();
    return {
      what: `Redis gone for ${seconds} s and emptied`,
      seconds: (first - ready) / 1000,
      atMost: 5,
      detail: "first start after its return",
    };
  };

const postgresRestarted: Scenario = async (rig) => {
  const pids = new Map(rig.fleet.members.map((member) => [member.name, member.pid]));
  for (let n = 0; n < 6; n++) await rig.trigger("chaos_chain");
  await rig.firstAfter("running", Date.now() - 1_000, LONGEST_MS);
  await rig.fleet.servers.restartPostgres("SIGQUIT", 0);
  const ready = Date.now();
  const first = await rig.firstAfter("running", ready, LONGEST_MS);
  await rig.idle();
  const exits = rig.fleet.members.filter((member) => member.pid !== pids.get(member.name)).map((member) => member.name);
  const [lost] = await rig.query<{ n: number }>("select count(*)::int as n from log where event = 'heartbeat timeout'");
  const zombies = lost?.n ?? 0;
  const isClean = exits.length === 0 && zombies === 0;
  return {
    what: "Postgres restarted at once",
    seconds: isClean ? (first - ready) / 1000 : undefined,
    atMost: 5,
    detail: `first start after it is ready; ${exits.length} exits${exits.length > 0 ? ` (${exits.join()})` : ""}, ${zombies} false losses`,
  };
};

interface Plan {
  readonly env: Readonly<Record<string, string>>;
  readonly scenarios: readonly Scenario[];
}

const plansOf = (redisSeconds: number): readonly Plan[] => [
  // Everything as it comes. The loss is last: it stays in the log in which false losses are looked for.
  {
    env: {},
    scenarios: [redisGone(redisSeconds), postgresRestarted, schedulerKilled, lostWorker("lost worker, by default", 35)],
  },
  {
    env: {
      MILLRACE__SCHEDULER__TASK_INSTANCE_HEARTBEAT_SEC: "1",
      MILLRACE__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT: "4",
      MILLRACE__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT_DETECTION_INTERVAL: "0.5",
    },
    scenarios: [lostWorker("lost worker, heartbeat 1 s, timeout 4 s", 5)],
  },
];

/**
 * @param tell called with each figure as it comes
 * @param redisSeconds how long Redis is away
 */
export async function runSpeed(tell: (figure: Figure) => void, redisSeconds: number): Promise<void> {
  const failed = (what: string, detail: string): Figure => ({ what, seconds: undefined, atMost: 0, detail });
  for (const { env, scenarios } of plansOf(redisSeconds)) {
    const fleet = await Fleet.start({ env, without: ["worker-3", "triggerer-2"] });
    try {
      await fleet.servers.query("update dag set is_paused = true where dag_id = 'chaos_ticking'");
      const rig = new Rig(fleet);
      for (const scenario of scenarios) {
        tell(await scenario(rig).catch((error: unknown) => failed("a scenario", String(error))));
      }
      for (const what of fleet.violations) tell(failed("no process ends by itself", what));
    } finally {
      await fleet.stop();
      await fleet.remove();
    }
  }
}
