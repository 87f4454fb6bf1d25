// The built-in triggers that ask somebody: each true already, true later, and wrong.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdir, writeFile } from "node:fs/promises";
import { provideConnection } from "@millrace/shared/config";
import { newId } from "@millrace/shared/db";
import { testDatabase, testRedisUrl, waitUntil } from "@millrace/testkit";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { openRig, type WaitRig } from "../../fixtures/waits.ts";

const database = await testDatabase();
const redisUrl = await testRedisUrl();
const pollSeconds = 0.1;
let rig: WaitRig;
let server: Server;
let address: string;
let answer: { status: number; body: string; requests: string[] };

beforeAll(async () => {
  server = createServer((request, response) => {
    const { method, url, headers } = request;
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const { authorization = "", "content-type": type = "" } = headers;
      answer.requests.push(`${method} ${url} ${authorization} ${type} ${body}`);
      response.writeHead(answer.status).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  provideConnection("kinds_db", database.url);
  provideConnection("kinds_redis", redisUrl);
  provideConnection("kinds_http", address.replace("//", "//me:pass@"));
  // The scheme in the host, and the port beside it.
  provideConnection("kinds_http_host", address.replace("http://", "http://http://"));
  provideConnection("kinds_http_nowhere", "http://");
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(async () => {
  answer = { status: 200, body: '{"state": {"done": false}}', requests: [] };
  await database.reset();
  rig = await openRig(database.url);
  await rig.seed();
  await rig.triggerer();
});
afterEach(() => rig.close());

async function events(...taskIds: readonly string[]): Promise<unknown[]> {
  await waitUntil(
    async () => {
      const tasks = await rig.tasks();
      return taskIds.every((taskId) => tasks[taskId]?.state === "scheduled");
    },
    { what: `${taskIds.join(", ")} resumed` },
  );
  const tasks = await rig.tasks();
  return taskIds.map((taskId) => tasks[taskId]?.event);
}

const payload = (value: unknown) => ({ kind: "event", payload: value });
const failure = (name: string, message: string) => ({
  kind: "failed",
  error: { name, message: expect.stringContaining(message) as string },
});
const stillWaits = async (taskId: string) => expect((await rig.tasks())[taskId]?.state).toBe("deferred");

test("external_states: tasks and runs of other DAGs, by run and by date", async () => {
  await rig.db.read(
    `insert into dag (dag_id, is_paused, bundle_name, max_active_tasks, max_active_runs) values ('other', false, 'dags-folder', 1, 1)`,
  );
  const [run] = await rig.db.read<{ id: number }>(
    `insert into dag_run (dag_id, run_id, run_type, state, run_after, logical_date) values
     ('other', 'one', 'manual', 'running', now(), '2026-01-01Z') returning id`,
  );
  await rig.db.read(
    `insert into task_instance (id, dag_run_id, dag_id, run_id, run_after, task_id, state)
     select gen_random_uuid(), $1, 'other', 'one', now(), t, 'running' from unnest(array['load', 'g.a', 'g.b']) t`,
    [run?.id],
  );
  const states = { allowedStates: ["success"], failedStates: ["failed"], skippedStates: ["skipped"], pollSeconds };
  const ask = (kwargs: object) => ({
    name: "millrace.external_states",
    kwargs: { dagId: "other", ...states, ...kwargs },
  });
  await rig.defer({
    task: ask({ taskIds: ["load"], runIds: ["one"] }),
    group: ask({ taskGroupId: "g", logicalDates: ["2026-01-01T01:00:00+01:00"] }),
    run: ask({ runIds: ["one"] }),
    missing: ask({ dagId: "nowhere", runIds: ["one"], checkExistence: true }),
    patient: ask({ dagId: "nowhere", runIds: ["one"] }),
    wrong: ask({ logicalDates: ["someday"] }),
  });
  const [missing, wrong] = await events("missing", "wrong");
  expect(missing).toEqual(failure("ExternalTaskNotFound", "there is no DAG nowhere"));
  expect(wrong).toEqual(failure("TriggerArguments", "needs `logicalDates` to be an ISO 8601 date"));
  for (const taskId of ["task", "group", "run", "patient"]) await stillWaits(taskId);
  await rig.db.read(
    "update task_instance set state = 'success', epoch = 1 where dag_id = 'other' and task_id = 'load'",
  );
  await rig.db.read("update task_instance set state = 'skipped', epoch = 1 where dag_id = 'other' and task_id = 'g.b'");
  const found = { runId: "one", logicalDate: "2026-01-01T00:00:00.000Z", mapIndex: -1 };
  const [task, group] = await events("task", "group");
  expect(task).toEqual(payload({ outcome: "allowed", states: [{ ...found, taskId: "load", state: "success" }] }));
  expect(group).toEqual(
    payload({
      outcome: "skipped",
      states: [
        { ...found, taskId: "g.a", state: "running" },
        { ...found, taskId: "g.b", state: "skipped" },
      ],
    }),
  );
  await rig.db.read("update dag_run set state = 'failed' where dag_id = 'other'");
  expect(await events("run")).toEqual([
    payload({ outcome: "failed", states: [{ ...found, taskId: null, state: "failed" }] }),
  ]);
});

test("asset_event: later than the wait began, or than a moment", async () => {
  const [asset] = await rig.db.read<{ id: number }>(
    "insert into asset (name, uri) values ('sales', 's3://sales') returning id",
  );
  const emit = (at: string) =>
    rig.db.read(
      `insert into asset_event (asset_id, extra, source_dag_id, source_run_id, source_task_id, timestamp)
       values ($1, '{"rows": 3}', 'd', 'r', 't', ${at})`,
      [asset?.id],
    );
  await emit("'2026-01-01T00:00:00Z'");
  const ask = (kwargs: object) => ({ name: "millrace.asset_event", kwargs: { pollSeconds, ...kwargs } });
  await rig.defer({
    since: ask({ name: "sales", after: "2025-12-31T00:00:00Z" }),
    next: ask({ uri: "s3://sales" }),
    wrong: ask({}),
  });
  const [since, wrong] = await events("since", "wrong");
  expect(since).toMatchObject(
    payload({
      events: [{ name: "sales", extra: { rows: 3 }, sourceTaskId: "t", timestamp: "2026-01-01T00:00:00.000Z" }],
    }),
  );
  expect(wrong).toEqual(failure("TriggerArguments", "needs `name` to be a string, unless `uri` is one"));
  await stillWaits("next");
  await emit("now() + interval '1 s'");
  expect(await events("next")).toMatchObject([payload({ events: [{ uri: "s3://sales" }] })]);
});

test("http: by status and by a field of the answer, with a connection's login", async () => {
  const ask = (kwargs: object) => ({ name: "millrace.http", kwargs: { pollSeconds, ...kwargs } });
  await rig.defer({
    any: ask({ url: `${address}/any` }),
    field: ask({ connectionId: "kinds_http", path: "jobs/1", field: { path: ["state", "done"] } }),
    status: ask({ url: address, method: "post", body: { a: 1 }, status: [404] }),
    nobody: ask({ connectionId: "nobody" }),
    login: ask({ url: `${address.replace("//", "//me:word@")}/login` }),
    host: ask({
      connectionId: "kinds_http_host",
      path: "host",
      headers: { "Content-Type": "text/x" },
      body: {},
      method: "post",
    }),
    nowhere: ask({ connectionId: "kinds_http_nowhere" }),
  });
  const [any, nobody, nowhere] = await events("any", "nobody", "nowhere", "login", "host");
  expect(nowhere).toEqual(failure("TriggerArguments", 'connection "kinds_http_nowhere" has no host'));
  expect(answer.requests).toContain(`GET /login Basic ${btoa("me:word")}  `);
  expect(answer.requests).toContain("POST /host  text/x {}");
  expect(any).toEqual(payload({ status: 200, body: { state: { done: false } } }));
  expect(nobody).toEqual(
    failure("ConnectionNotFound", "there is no connection nobody: add it, or set MILLRACE_CONN_NOBODY"),
  );
  await stillWaits("field");
  answer.body = '{"state": {"done": true}}';
  expect(await events("field")).toEqual([payload({ status: 200, body: { state: { done: true } } })]);
  expect(answer.requests).toContain(`GET /jobs/1 Basic ${btoa("me:pass")}  `);
  await stillWaits("status");
  answer.status = 404;
  answer.body = "é".repeat(100_000);
  const [status] = (await events("status")) as [{ payload: { status: number; body: string } }];
  expect([status.payload.status, Buffer.byteLength(status.payload.body)]).toEqual([404, 65_536]);
  expect(answer.requests).toContain('POST /  application/json {"a":1}');
});

test("sql: until the first value is true; a statement that is wrong fails", async () => {
  const ask = (sql: string, params: readonly unknown[] = []) => ({
    name: "millrace.sql",
    kwargs: { connectionId: "kinds_db", sql, params, pollSeconds },
  });
  await rig.db.read("create table if not exists arrivals (n int)");
  await rig.defer({
    now: ask("select $1::int as n, 'x' as text", [7]),
    later: ask("select count(*) from arrivals"),
    none: ask("select 1 where false"),
    wrong: ask("select from nowhere_at_all"),
  });
  const [now, wrong] = await events("now", "wrong");
  expect(now).toEqual(payload({ row: { n: 7, text: "x" } }));
  expect(wrong).toEqual(failure("QueryRefused", "nowhere_at_all"));
  await stillWaits("later");
  await rig.db.read("insert into arrivals values (1)");
  expect(await events("later")).toEqual([payload({ row: { count: "1" } })]);
  await stillWaits("none");
  await rig.db.read("drop table arrivals");
});

test("file: by name and by pattern", async () => {
  const folder = `${rig.folder}/in`;
  await mkdir(`${folder}/a`, { recursive: true });
  await writeFile(`${folder}/there.csv`, "12345");
  const ask = (path: string) => ({ name: "millrace.file", kwargs: { path, pollSeconds } });
  await rig.defer({ there: ask(`${folder}/there.csv`), later: ask(`${folder}/**/part-*.csv`) });
  expect(await events("there")).toMatchObject([payload({ path: `${folder}/there.csv`, size: 5 })]);
  await stillWaits("later");
  await writeFile(`${folder}/a/part-1.csv`, "1");
  expect(await events("later")).toMatchObject([payload({ path: `${folder}/a/part-1.csv`, size: 1 })]);
});

test("redis: the next message of a channel, and the first entry of a stream since the wait began", async () => {
  const redis = new Redis(redisUrl);
  try {
    const ask = (kwargs: object) => ({ name: "millrace.redis", kwargs: { connectionId: "kinds_redis", ...kwargs } });
    const [stream, second, text] = [`s${newId()}`, `s${newId()}`, `t${newId()}`];
    const before = await redis.xadd(stream, "*", "n", "0");
    await new Promise((resolve) => setTimeout(resolve, 5));
    await redis.set(text, "no stream");
    await rig.defer({
      channel: ask({ channel: "news" }),
      stream: ask({ stream }),
      first: ask({ stream, lastId: "0" }),
      second: ask({ stream: second, lastId: "$" }),
      wrong: ask({ stream: text }),
      nothing: ask({}),
    });
    const [first, wrong, nothing] = await events("first", "wrong", "nothing");
    expect(first).toEqual(payload({ stream, id: before, message: { n: "0" } }));
    expect(wrong).toEqual(failure("RedisRefused", "cannot be read: WRONGTYPE"));
    expect(nothing).toEqual(failure("TriggerArguments", "needs `channel` to be a string, or `stream` one"));
    await waitUntil(async () => (await redis.pubsub("NUMSUB", "news"))[1] === 1, { what: "it listens" });
    await redis.publish("news", "hello");
    const id = await redis.xadd(stream, "*", "n", "1", "text", "x");
    await redis.xadd(second, "*", "n", "2");
    expect(await events("channel", "stream", "second")).toMatchObject([
      payload({ channel: "news", message: "hello" }),
      payload({ stream, id, message: { n: "1", text: "x" } }),
      payload({ stream: second, message: { n: "2" } }),
    ]);
  } finally {
    redis.disconnect();
  }
});
