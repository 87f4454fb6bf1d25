// A worker in this process, with real children, over a way to Postgres that fails as the test wishes. Messages are handed
// to it as a broker would.
import { access, mkdir, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { loadConfig } from "@millrace/shared/config";
import { Database, newId } from "@millrace/shared/db";
import { attemptLogPath, createLogger } from "@millrace/shared/observability";
import type { AttemptMessage, Broker, Wake } from "@millrace/shared/queue";
import { openProxyTo, testDatabase, waitUntil } from "@millrace/testkit";
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createWorker } from "./index.ts";

// An artifact by hand. What a task does is in the conf of its run.
const CODE = `export const artifact = { protocol: 1, async run(request, host) {
  const { conf } = request;
  if (conf.act === "variable") {
    await host.setVariable("begun", String(process.pid));
    await new Promise((resolve) => setTimeout(resolve, 300));
    return { kind: "success", returnValue: await host.getVariable("answer") };
  }
  if (conf.act === "forever") {
    await host.setVariable("begun", String(process.pid));
    process.on("SIGTERM", () => {});
    await new Promise((resolve) => setTimeout(resolve, 600_000));
  }
  if (conf.act === "blocks") {
    await host.setVariable("begun", String(process.pid));
    for (const end = Date.now() + 1_500; Date.now() < end;);
  }
  if (conf.act === "surrogate") return { kind: "success", returnValue: "\\ud800" };
  if (conf.act === "says") console.log("something");
  return { kind: "success", returnValue: 1 };
} }`;

const database = await testDatabase();
const link = await openProxyTo(database.url);
const lines: string[] = [];
const log = createLogger({ level: "info", name: "worker", destination: { write: (line) => void lines.push(line) } });
const quiet = createLogger({ level: "silent", name: "test" });
const db = new Database({ url: database.url, applicationName: "test", maxConnections: 4, maxRetries: 0, log: quiet });
const folder = await mkdtemp(join(tmpdir(), "millrace-worker-"));
const logs = join(folder, "logs");
afterAll(async () => {
  await db.close();
  await link.close();
  await rm(folder, { recursive: true, force: true });
});

async function start(settings: Readonly<Record<string, unknown>> = {}) {
  const built = build(settings);
  await built.worker.start();
  return built;
}

const nobody = () => Promise.resolve();

function build(settings: Readonly<Record<string, unknown>> = {}, onSignal: () => Promise<void> = nobody) {
  const config = loadConfig({
    env: {},
    cwd: folder,
    overrides: {
      "logging.base_log_folder": logs,
      "workers.artifact_folder": join(folder, "artifacts"),
      "workers.concurrency": 4,
      "core.killed_task_cleanup_time": 0.4,
      "scheduler.task_instance_heartbeat_sec": 0.1,
      ...settings,
    },
  });
  const own = new Database({ url: link.url, applicationName: "worker", maxConnections: 4, maxRetries: 1, log: quiet });
  const wakes: Wake[] = [];
  let handle: (message: AttemptMessage) => Promise<void> = () => Promise.resolve();
  let consumers = 0;
  const broker: Broker = {
    target: "memory",
    check: nobody,
    send: nobody,
    consume: (options) => {
      consumers++;
      handle = (message) => options.handle(message, "default");
      return { start: nobody, stop: nobody, pause: nobody, silentMs: () => 0 };
    },
    wake: (more) => void wakes.push(...more),
    takeWakes: () => Promise.resolve([]),
    interruptTake: () => undefined,
    signalAttempts: () => undefined,
    onSignal,
    callTriggerers: () => undefined,
    onTriggererCall: nobody,
    onReconnect: () => undefined,
    close: nobody,
  };
  const worker = createWorker({ db: own, broker, config, log });
  onTestFinished(async () => {
    link.heal();
    await worker.stop();
    await own.close();
  });
  return { worker, wakes, consumers: () => consumers, deliver: (message: AttemptMessage) => handle(message) };
}

/** A queued attempt of a task that does what `act` says. */
async function queued(
  act: string,
  retries = 0,
  format = 1,
  more: object = {},
): Promise<AttemptMessage & { readonly runId: string }> {
  const [id, version, runId] = [newId(), newId(), `r_${newId()}`];
  const task = {
    taskId: "t",
    operator: "task",
    upstream: [],
    inputs: {},
    retries,
    infraRetries: 0,
    retryDelay: 0,
    retryExponentialBackoff: 0,
    queue: "default",
    pool: "default_pool",
    poolSlots: 1,
    priorityWeight: 1,
    callbacks: [],
    triggerRule: "all_success",
    weightRule: "downstream",
    doXcomPush: true,
    ...more,
  };
  await db.read(
    "insert into dag_version (id, dag_id, version_number, artifact_hash) values ($1, 'dag', (select count(*) + 1 from dag_version), 'h')",
    [version],
  );
  await db.read(
    "insert into serialized_dag (id, dag_id, data, dag_hash, dag_version_id) values ($1, 'dag', $2, 'h', $3)",
    [
      newId(),
      JSON.stringify({
        format,
        dagId: "dag",
        schedule: { kind: "none" },
        params: {},
        callbacks: [],
        groups: [],
        tasks: [task],
      }),
      version,
    ],
  );
  await db.read(
    `with r as (insert into dag_run (dag_id, run_id, run_type, state, run_after, conf, created_dag_version_id)
       values ('dag', $1, 'manual', 'running', now(), $2, $3) returning id)
     insert into task_instance (id, dag_run_id, dag_id, run_id, task_id, map_index, state, epoch, try_number, max_tries, pool,
       pool_slots, queue, priority_weight, run_after, dag_version_id, queued_dttm)
     select $4, r.id, 'dag', $1, 't', -1, 'queued', 2, 1, $5, 'default_pool', 1, 'default', 1, now(), $3, now() from r`,
    [runId, JSON.stringify({ act }), version, id, retries],
  );
  return { id, epoch: 2, runId };
}

beforeEach(async () => {
  await database.reset();
  lines.length = 0;
  await db.read(
    "insert into dag (dag_id, is_paused, bundle_name, max_active_tasks, max_active_runs) values ('dag', false, 'dags-folder', 16, 16)",
  );
  await db.read("insert into dag_artifact (hash, code, source_map) values ('h', $1, '{}')", [CODE]);
});

interface Row {
  readonly state: string;
  readonly reason: string | null;
  readonly tries: number;
  readonly max: number;
}
const rowOf = async (runId: string): Promise<Row | undefined> =>
  (
    await db.read<Row>(
      "select state, state_reason as reason, try_number as tries, max_tries as max from task_instance where run_id = $1",
      [runId],
    )
  )[0];
const becomes = async (runId: string, state: string) =>
  await waitUntil(async () => (await rowOf(runId))?.state === state, { what: `it is ${state}`, timeoutMs: 20_000 });
const variable = async (key: string) =>
  (await db.read<{ val: string }>("select val from variable where key = $1", [key]))[0]?.val;
const begun = async (): Promise<number> =>
  Number(await waitUntil(async () => await variable("begun"), { what: "it has begun", timeoutMs: 20_000 }));
const lives = async (pid: number) =>
  await access(`/proc/${pid}`).then(
    () => true,
    () => false,
  );

test("a task with an asset that no DAG declares fails before it runs, and is not tried again", async () => {
  const { deliver } = await start();
  const { runId, ...message } = await queued("variable", 2, 1, { outlets: [{ ref: { name: "nowhere" } }] });
  await deliver(message);
  await becomes(runId, "failed");
  expect(await rowOf(runId)).toMatchObject({
    tries: 1,
    reason: expect.stringContaining("the task uses assets that are not active: nowhere") as string,
  });
  expect(await variable("begun")).toBeUndefined();
});

test("an attempt of a DAG that only newer workers understand is handed back for a while, without using a try", async () => {
  const { deliver } = await start();
  const { runId, ...message } = await queued("says", 0, 1_000);
  await deliver(message);
  await becomes(runId, "up_for_retry");
  expect(await rowOf(runId)).toMatchObject({
    state: "up_for_retry",
    tries: 1,
    max: 1,
    reason: expect.stringContaining("older") as string,
  });
  expect(lines.filter((line) => line.includes("written by a newer Millrace"))).toHaveLength(1);
});

describe("an outage of Postgres", { timeout: 60_000 }, () => {
  test("while a handler asks for something and ends is waited for, and is not the task's failure", async () => {
    const { deliver } = await start();
    const { runId, ...message } = await queued("variable");
    await db.read("insert into variable (key, val) values ('answer', '\"42\"')");
    void deliver(message);
    await begun();
    link.cut();
    await waitUntil(() => lines.some((line) => line.includes("waits for the database")), {
      what: "it is waited for",
      timeoutMs: 20_000,
    });
    link.heal();
    await becomes(runId, "success");
    expect(await db.read("select value from xcom where run_id = $1", [runId])).toHaveLength(1);
  });

  test("between the claim and the start is waited for, and the task runs once, in its first try", async () => {
    const { deliver } = await start();
    const one = await queued("nothing");
    const delivered = deliver(one);
    await waitUntil(async () => (await rowOf(one.runId))?.state !== "queued", {
      what: "it is claimed",
      timeoutMs: 20_000,
    });
    link.cut();
    await new Promise((resolve) => setTimeout(resolve, 700));
    link.heal();
    await delivered;
    await becomes(one.runId, "success");
    expect(await rowOf(one.runId)).toMatchObject({ tries: 1 });
    expect(await db.read("select from task_instance_transition where to_state = 'running'")).toHaveLength(1);
  });
});

test(
  "a result that Postgres cannot hold fails its own task and keeps no other from ending",
  { timeout: 60_000 },
  async () => {
    const { deliver } = await start();
    const bad = await queued("surrogate");
    const good = [await queued("nothing"), await queued("nothing")];
    await Promise.all([bad, ...good].map((message) => deliver(message)));
    await becomes(bad.runId, "failed");
    for (const { runId } of good) await becomes(runId, "success");
    expect((await rowOf(bad.runId))?.reason).toMatch(/refused by the database/);
  },
);

test(
  "an attempt that was taken over is killed with its next heartbeats, and writes nothing",
  { timeout: 60_000 },
  async () => {
    const { deliver } = await start();
    const { runId, ...message } = await queued("forever");
    void deliver(message);
    const pid = await begun();
    // As the sweep does it to a worker that was silent: the row is another attempt's now.
    const newAttempt = newId();
    await db.read(
      "update task_instance set id = $2, state = 'up_for_retry', epoch = epoch + 1, worker_job_id = null where run_id = $1",
      [runId, newAttempt],
    );
    await waitUntil(async () => !(await lives(pid)), { what: "its process is gone", timeoutMs: 20_000 });
    expect(await db.read("select id, state from task_instance where run_id = $1", [runId])).toEqual([
      { id: newAttempt, state: "up_for_retry" },
    ]);
  },
);

test(
  "while a handler blocks its event loop, and while the worker drains, its attempt lives on",
  { timeout: 60_000 },
  async () => {
    const { worker, deliver } = await start();
    const { runId, ...message } = await queued("blocks");
    void deliver(message);
    await begun();
    const stopped = worker.stop();
    const beats = new Set<number>();
    await waitUntil(
      async () => {
        const [row] = await db.read<{ at: Date; state: string }>(
          "select latest_heartbeat as at, state from task_instance where run_id = $1",
          [runId],
        );
        if (row?.state === "running") beats.add(row.at.getTime());
        return row?.state === "success";
      },
      { what: "it ends well", timeoutMs: 20_000 },
    );
    expect(beats.size).toBeGreaterThan(3);
    await stopped;
  },
);

test(
  "at the end of the grace what runs is killed and handed back, without using a try",
  { timeout: 60_000 },
  async () => {
    const { worker, deliver, wakes } = await start({ "workers.graceful_timeout": 0.2 });
    const { runId, ...message } = await queued("forever", 0);
    void deliver(message);
    const pid = await begun();
    await worker.stop();
    expect(await lives(pid)).toBe(false);
    expect(await rowOf(runId)).toMatchObject({
      state: "up_for_retry",
      tries: 1,
      max: 1,
      reason: expect.stringContaining("worker shut down") as string,
    });
    expect(wakes.some((wake) => wake.taskIds?.includes("t"))).toBe(true);
  },
);

test("a full disk takes the log of an attempt and nothing else, and is told once", { timeout: 60_000 }, async () => {
  const { deliver } = await start();
  const one = await queued("says");
  const path = attemptLogPath(logs, { dagId: "dag", runId: one.runId, taskId: "t", mapIndex: -1, tryNumber: 1 });
  await mkdir(dirname(path), { recursive: true });
  // Every write to it fails for want of room.
  await symlink("/dev/full", path);
  await deliver(one);
  await becomes(one.runId, "success");
  await waitUntil(() => lines.some((line) => line.includes("ENOSPC")), { what: "it is told" });
  expect(lines.filter((line) => line.includes("could not be written"))).toHaveLength(1);
  expect(await readFile(join(folder, "artifacts", "h.mjs"), "utf8")).toContain("artifact");
});

test("a worker that is told to stop while it starts takes nothing any more", async () => {
  let reached: () => void = () => undefined;
  let goOn: () => void = () => undefined;
  const isThere = new Promise<void>((resolve) => (reached = resolve));
  const mayGoOn = new Promise<void>((resolve) => (goOn = resolve));
  const { worker, consumers } = build({}, async () => {
    reached();
    await mayGoOn;
  });
  const starting = worker.start();
  await isThere;
  const stopping = worker.stop();
  goOn();
  await Promise.all([starting, stopping]);
  expect(consumers()).toBe(0);
  expect(await db.read("select state from job")).toEqual([{ state: "success" }]);
});
