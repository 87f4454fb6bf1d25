import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig, type Config } from "@millrace/shared/config";
import { ArtifactStore, claimCallbacks, Database, extendCallbacks, finishCallback, newId } from "@millrace/shared/db";
import { createLogger } from "@millrace/shared/observability";
import { Secrets } from "@millrace/shared/secrets";
import { XComs } from "@millrace/shared/xcoms";
import { openBroker } from "@millrace/shared/queue";
import { testDatabase, waitUntil } from "@millrace/testkit";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ChildPool } from "../run/child-pool.ts";
import { CallbackRunner } from "./callback-runner.ts";

// An artifact by hand. What a callback is to do is in the conf of its run.
const CODE = `export const artifact = { protocol: 1, async runCallback(request, host) {
  const { conf, kind, key } = request;
  console.log("told", JSON.stringify(request));
  if (conf.act === "wait") {
    await host.setVariable("begun " + key, kind);
    while ((await host.getVariable("go")) === undefined) await new Promise((resolve) => setTimeout(resolve, 10));
  }
  if (conf.act === "xcom")
    await host.setXCom({ dagId: request.dagId, runId: request.runId, taskId: "t", mapIndex: -1, key: "k", value: 1 });
  return { kind: "success" };
} }`;

const database = await testDatabase();
const log = createLogger({ level: "silent", name: "test" });
const db = new Database({ url: database.url, applicationName: "test", maxConnections: 6, maxRetries: 0, log });
const broker = openBroker({ url: "postgres", prefix: "test", databaseUrl: database.url, log });
let folder: string;
let config: Config;
let pool: ChildPool;
let runner: CallbackRunner;
const made: CallbackRunner[] = [];

function createRunner(workerJobId: number): CallbackRunner {
  const artifacts = new ArtifactStore(db, join(folder, "artifacts"));
  const secrets = new Secrets({ db, config, log });
  const created = new CallbackRunner({
    db,
    broker,
    config,
    log,
    pool,
    artifacts,
    workerJobId: () => workerJobId,
    secrets,
    xcoms: new XComs(db, config),
  });
  made.push(created);
  return created;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-callbacks-"));
  config = loadConfig({
    env: {
      MILLRACE__DATABASE__URL: database.url,
      MILLRACE__BROKER__URL: "postgres",
      MILLRACE__LOGGING__BASE_LOG_FOLDER: join(folder, "logs"),
      MILLRACE__WORKERS__CONCURRENCY: "1",
      MILLRACE__CORE__KILLED_TASK_CLEANUP_TIME: "0.2",
      MILLRACE__SCHEDULER__TASK_INSTANCE_HEARTBEAT_SEC: "0.1",
    },
  });
  pool = new ChildPool({ config });
  await pool.start();
});

afterAll(async () => {
  await pool.stop();
  await broker.close();
  await db.close();
  await rm(folder, { recursive: true, force: true });
});

beforeEach(async () => {
  await database.reset();
  await db.read(`insert into dag (dag_id, is_paused, bundle_name, max_active_tasks, max_active_runs)
    values ('etl', false, 'dags-folder', 16, 16)`);
  await db.read(`insert into dag_artifact (hash, code, source_map) values ('h1', $1, '{}'), ('old', $2, '{}')`, [
    CODE,
    "export const artifact = { protocol: 1 }",
  ]);
  runner = createRunner(1);
});

afterEach(async () => {
  for (const each of made.splice(0)) {
    each.releaseAll();
    await each.stop();
  }
});

/** A pending callback of a run of its own; gives its id. */
async function pending(act: string, given: { hash?: string | null; weight?: number; attempts?: number } = {}) {
  const id = newId();
  await db.read(
    `with r as (
       insert into dag_run (dag_id, run_id, run_type, state, run_after, conf)
       values ('etl', 'run ' || $1::text, 'manual', 'failed', now(), $2) returning id
     )
     insert into callback (id, kind, dag_run_id, ti_id, task_id, try_number, artifact_hash, priority_weight, attempts, data)
     select $1::uuid, 'onFailure', r.id, gen_random_uuid(), 't', 2, $3, $4, $5,
       '{"versionId": null, "maxTries": 1, "reason": "TypeError: no rows"}' from r`,
    [id, JSON.stringify({ act }), given.hash === undefined ? "h1" : given.hash, given.weight ?? 1, given.attempts ?? 0],
  );
  return id;
}

interface Row {
  readonly state: string;
  readonly attempts: number;
  readonly output: string | null;
  readonly worker: number | null;
}
async function rowOf(id: string): Promise<Row> {
  const [row] = await db.read<Row>(
    "select state, attempts, output, worker_job_id as worker from callback where id = $1",
    [id],
  );
  if (row === undefined) throw new Error("it is gone");
  return row;
}
const ended = (id: string): Promise<Row> =>
  waitUntil(
    async () => {
      const row = await rowOf(id);
      return row.state === "success" || row.state === "failed" ? row : undefined;
    },
    { what: `callback ${id} has ended` },
  );
const begun = (count: number) =>
  waitUntil(async () => (await db.read("select from variable where key like 'begun %'")).length >= count || undefined, {
    what: `${count} callbacks wait`,
  });
const go = () => db.read("insert into variable (key, val) values ('go', '1')");

describe("a runner of callbacks", () => {
  it("tells a callback all that is known, and writes its output in the log of its attempt", async () => {
    const id = await pending("");
    await runner.start();
    runner.wake();
    expect(await ended(id)).toEqual({ state: "success", attempts: 1, output: null, worker: 1 });
    const path = join(folder, "logs", "dag_id=etl", `run_id=run%20${id}`, "task_id=t", "attempt=2.log");
    const told = /told (\{.*\})"\}/.exec(await readFile(path, "utf8"))?.[1] ?? "";
    expect(JSON.parse(JSON.parse(`"${told}"`) as string)).toMatchObject({
      key: id,
      kind: "onFailure",
      taskId: "t",
      tryNumber: 2,
      maxTries: 1,
      reason: "TypeError: no rows",
      error: { name: "TypeError", message: "no rows" },
      runState: "failed",
      params: { act: "" },
    });
  });

  it("finds them without being woken, and goes on with the next when one has ended", async () => {
    const ids = [await pending(""), await pending(""), await pending(""), await pending(""), await pending("")];
    await runner.start();
    for (const id of ids) expect((await ended(id)).state).toBe("success");
  });

  it("runs two at once and never more", async () => {
    const ids = [await pending("wait"), await pending("wait"), await pending("wait")];
    await runner.start();
    runner.wake();
    await begun(2);
    runner.wake();
    await waitUntil(async () => (await leaseAge()) > 0.2, { what: "the leases were extended" });
    expect((await Promise.all(ids.map(rowOf))).map((row) => row.state)).toEqual(["running", "running", "pending"]);
    await go();
    for (const id of ids) expect(await ended(id)).toMatchObject({ state: "success", attempts: 1 });
  });

  it("waits for them when it stops, and takes no more", async () => {
    const [first, second] = [await pending("wait"), await pending("wait")];
    await runner.start();
    runner.wake();
    await begun(2);
    const third = await pending("");
    const stopped = runner.stop();
    await go();
    await stopped;
    expect([(await rowOf(first)).state, (await rowOf(second)).state]).toEqual(["success", "success"]);
    expect(await rowOf(third)).toMatchObject({ state: "pending", attempts: 0 });
  });

  it("hands them back when the time to drain is over, which counts as no attempt", async () => {
    const id = await pending("wait");
    await runner.start();
    runner.wake();
    await begun(1);
    const stopped = runner.stop();
    runner.releaseAll();
    await stopped;
    expect(await rowOf(id)).toMatchObject({ state: "pending", attempts: 0 });
    await go();
    const next = createRunner(2);
    await next.start();
    next.wake();
    expect(await ended(id)).toMatchObject({ state: "success", attempts: 1, worker: 2 });
  });

  it("stops one that another worker has taken over, and leaves its row alone", async () => {
    const id = await pending("wait");
    await runner.start();
    runner.wake();
    await begun(1);
    await db.read("update callback set worker_job_id = 9, attempts = 2");
    const path = join(folder, "logs", "dag_id=etl", `run_id=run%20${id}`, "task_id=t", "attempt=2.log");
    await waitUntil(async () => (await readFile(path, "utf8")).includes("its lease ran out"), {
      what: "it was stopped",
    });
    await runner.stop();
    expect(await rowOf(id)).toMatchObject({ state: "running", attempts: 2, worker: 9 });
  });

  it("lets a callback write no XCom", async () => {
    const id = await pending("xcom");
    await runner.start();
    runner.wake();
    expect((await ended(id)).output).toMatch(/sets no XComs/);
    expect(await db.read("select from xcom")).toEqual([]);
  });

  it("fails those whose code is gone or has no callbacks", async () => {
    const [gone, old] = [await pending("", { hash: null }), await pending("", { hash: "old" })];
    await runner.start();
    runner.wake();
    expect(await ended(gone)).toMatchObject({ state: "failed", output: "the DAG version that it belongs to is gone" });
    expect((await ended(old)).output).toContain("older than callbacks");
  });

  it("tries one again later that could not be begun", async () => {
    const id = await pending("", { hash: "missing" });
    await runner.start();
    runner.wake();
    await waitUntil(async () => (await rowOf(id)).state === "running", { what: "it was claimed" });
    await runner.stop();
    expect(await rowOf(id)).toMatchObject({ state: "running", attempts: 1 });
  });
});

const leaseAge = async (): Promise<number> =>
  (
    await db.read<{ age: number }>(
      `select extract(epoch from max(lease_until) - make_interval(secs => $1) - min(created_at))::float8 as age
       from callback where state = 'running'`,
      [config.scheduler.task_instance_heartbeat_timeout],
    )
  )[0]?.age ?? 0;

describe("the leases of callbacks", () => {
  const claim = (limit: number, worker: number) => db.run(claimCallbacks, [limit, worker, 30]);
  const runOut = () => db.read("update callback set lease_until = now() - interval '1 second' where state = 'running'");

  it("give each to one worker, the weightiest and then the oldest first", async () => {
    const [light, first, second] = [
      await pending(""),
      await pending("", { weight: 5 }),
      await pending("", { weight: 5 }),
    ];
    // The second claims while the first has not committed, and does not wait for it.
    await db.transaction(async (tx) => {
      expect((await tx.run(claimCallbacks, [2, 1, 30])).map((callback) => callback.id)).toEqual([first, second]);
      expect((await claim(2, 2)).map((callback) => callback.id)).toEqual([light]);
    });
  });

  it("give one to the next worker only when its lease has run out; the first then changes nothing", async () => {
    const id = await pending("");
    const [mine] = await claim(1, 1);
    expect(await claim(1, 2)).toEqual([]);
    await runOut();
    const [theirs] = await claim(1, 2);
    expect(theirs).toMatchObject({ id, attempts: 2 });
    expect(await db.run(extendCallbacks, [[id], [mine?.attempts ?? 0], 1, 30])).toEqual([]);
    expect(await db.run(finishCallback, [id, mine?.attempts ?? 0, 1, "success", null])).toEqual([]);
    expect(await db.run(extendCallbacks, [[id], [2], 2, 30])).toEqual([{ id }]);
    expect(await db.run(finishCallback, [id, 2, 2, "failed", "Error: x"])).toEqual([{ id }]);
    expect(await rowOf(id)).toEqual({ state: "failed", attempts: 2, output: "Error: x", worker: 2 });
  });

  it("fail one that three workers were lost with", async () => {
    const id = await pending("");
    for (let worker = 1; worker <= 3; worker++) {
      expect(await claim(1, worker)).toMatchObject([{ id, attempts: worker }]);
      await runOut();
    }
    expect(await claim(1, 4)).toEqual([]);
    expect(await rowOf(id)).toMatchObject({ state: "failed", attempts: 3, output: "its worker was lost 3 times" });
    expect(await claim(1, 5)).toEqual([]);
  });
});
