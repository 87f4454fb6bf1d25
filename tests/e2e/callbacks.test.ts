import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { testDatabase, testRedisUrl, waitUntil, type MillraceProcess } from "@millrace/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openFleet, type Fleet } from "./fleet.ts";

const database = await testDatabase();
const redisUrl = await testRedisUrl();

interface Callback {
  readonly id: string;
  readonly task: string | null;
  readonly kind: string;
  readonly state: string;
  readonly output: string | null;
  readonly attempts: number;
  readonly worker: number | null;
}

let fleet: Fleet;
/** By the id of their job. */
const workers = new Map<number, MillraceProcess>();

async function startWorker(): Promise<void> {
  const started = await fleet.start(["worker"]);
  const [job] = await fleet.query<{ id: number }>("select max(id) as id from job where job_type = 'WorkerJob'");
  workers.set(job?.id ?? 0, started);
}

beforeAll(async () => {
  fleet = await openFleet(database, redisUrl, database.url, {
    MILLRACE__WORKERS__CALLBACK_TIMEOUT: "5",
    MILLRACE__CORE__KILLED_TASK_CLEANUP_TIME: "1",
  });
  await fleet.start(["dag-processor"]);
  await waitUntil(async () => (await fleet.query("select from dag where dag_id like 'callbacks_%'")).length === 5, {
    what: "every DAG is read",
    timeoutMs: 60_000,
  });
  await fleet.query("update dag set is_paused = true where dag_id not like 'callbacks_%'");
  await fleet.start(["scheduler"]);
  await startWorker();
  await startWorker();
}, 180_000);

afterAll(async () => {
  await fleet.close();
});

async function trigger(dagId: string, conf: object = {}): Promise<string> {
  const text = (await fleet.command(["dags", "trigger", dagId, "-c", JSON.stringify(conf), "-o", "json"])).join("\n");
  const printed = JSON.parse(text.slice(text.search(/[[{]/))) as { run_id: string } | { run_id: string }[];
  return (Array.isArray(printed) ? printed[0] : printed)?.run_id ?? "";
}

const callbacks = (runId: string): Promise<Callback[]> =>
  fleet.query<Callback & Record<string, unknown>>(
    `select c.id, c.task_id as task, c.kind, c.state, c.output, c.attempts, c.worker_job_id as worker
     from callback c join dag_run r on r.id = c.dag_run_id where r.run_id = $1 order by c.created_at`,
    [runId],
  );

async function done(runId: string, count: number): Promise<Callback[]> {
  return await waitUntil(
    async () => {
      const rows = await callbacks(runId);
      return rows.filter((row) => ["success", "failed"].includes(row.state)).length >= count ? rows : undefined;
    },
    { what: `${count} callbacks of ${runId} have ended`, timeoutMs: 30_000 },
  );
}

/** What the callbacks of a run told, by task and kind. */
async function told(runId: string): Promise<Record<string, Record<string, unknown>>> {
  const rows = await fleet.query<{ key: string; val: string }>("select key, val from variable where key like $1", [
    `${runId.replaceAll("_", "\\_")}/%`,
  ]);
  return Object.fromEntries(
    rows.map((row) => [row.key.slice(runId.length + 1), JSON.parse(row.val) as Record<string, unknown>]),
  );
}

const logOf = (dagId: string, runId: string, ...path: string[]): Promise<string> =>
  readFile(join(fleet.folder, "logs", `dag_id=${dagId}`, `run_id=${encodeURIComponent(runId)}`, ...path), "utf8");

describe("callbacks, run by two workers", { timeout: 120_000 }, () => {
  it("follow a failure: each retry, the last failure, and the run's", async () => {
    const runId = await trigger("callbacks_failing", { channel: "dev" });
    expect((await fleet.ended("callbacks_failing", runId)).tasks).toEqual({
      broken: "failed",
      after: "upstream_failed",
    });
    const rows = await done(runId, 3);
    expect(rows.map((row) => [row.task, row.kind, row.state, row.attempts])).toEqual([
      ["broken", "onRetry", "success", 1],
      ["broken", "onFailure", "success", 1],
      [null, "dagOnFailure", "success", 1],
    ]);
    const seen = await told(runId);
    expect(Object.keys(seen).sort()).toEqual([
      "broken/onExecute",
      "broken/onFailure",
      "broken/onRetry",
      "dag/dagOnFailure",
    ]);
    const params = { channel: "dev" };
    expect(seen["broken/onRetry"]).toMatchObject({ tryNumber: 1, reason: "TypeError: try 1 fails", key: rows[0]?.id });
    expect(seen["broken/onFailure"]).toEqual({
      dagId: "callbacks_failing",
      taskId: "broken",
      runId,
      mapIndex: -1,
      tryNumber: 2,
      key: rows[1]?.id,
      reason: "TypeError: try 2 fails",
      error: { name: "TypeError", message: "try 2 fails" },
      contextTask: "broken",
      contextKey: rows[1]?.id,
      params,
    });
    expect(seen["dag/dagOnFailure"]).toEqual({
      dagId: "callbacks_failing",
      runId,
      key: rows[2]?.id,
      state: "failed",
      reason: "task_failure",
      contextTask: "",
      contextKey: rows[2]?.id,
      params,
    });
    // Their output lies with what they belong to.
    const folder = "task_id=broken";
    expect(await logOf("callbacks_failing", runId, folder, "attempt=1.log")).toMatch(
      /onExecute speaks[^]*onRetry speaks/,
    );
    expect(await logOf("callbacks_failing", runId, folder, "attempt=2.log")).toContain("onFailure speaks");
    expect(await logOf("callbacks_failing", runId, "callbacks.log")).toContain("dagOnFailure speaks");
  });

  it("follow a success and a skip of the task's own, but no skip by a rule", async () => {
    const runId = await trigger("callbacks_passing");
    expect((await fleet.ended("callbacks_passing", runId)).state).toBe("success");
    const rows = await done(runId, 3);
    expect(rows.map((row) => `${row.task}/${row.kind}/${row.state}`).sort()).toEqual([
      "fine/onSuccess/success",
      "null/dagOnSuccess/success",
      "skipping/onSkipped/success",
    ]);
    const seen = await told(runId);
    expect(seen["dag/dagOnSuccess"]).toMatchObject({ state: "success", reason: "success" });
    expect(seen["fine/onSuccess"]).not.toHaveProperty("error");
  });

  it("harm nothing when they throw, exit or never end", async () => {
    const runId = await trigger("callbacks_hostile");
    expect((await fleet.ended("callbacks_hostile", runId)).tasks).toEqual({
      throws: "success",
      exits: "success",
      hangs: "success",
    });
    const rows = await done(runId, 3);
    const byTask = Object.fromEntries(rows.map((row) => [row.task, row]));
    expect(byTask["throws"]).toMatchObject({ state: "failed", attempts: 1 });
    // With the line of the user's own file.
    expect(byTask["throws"]?.output).toMatch(/^RangeError: the callback is broken\n\s+at .*callbacks\.ts:\d+:\d+/);
    expect(byTask["exits"]).toMatchObject({
      state: "failed",
      attempts: 1,
      output: "the process that ran it ended with exit code 3",
    });
    expect(byTask["hangs"]).toMatchObject({
      state: "failed",
      attempts: 1,
      output: "stopped: it ran longer than workers.callback_timeout of 5 s",
    });
    expect(Object.keys(await told(runId))).toEqual(["throws/onSuccess"]);
    expect(await logOf("callbacks_hostile", runId, "task_id=throws", "attempt=1.log")).toContain(
      "onSuccess failed: RangeError",
    );
    // The workers take new work as before.
    const next = await trigger("callbacks_passing");
    expect((await fleet.ended("callbacks_passing", next)).state).toBe("success");
    await done(next, 3);
  });

  it("follow a mark, also of what had ended", async () => {
    const runId = await trigger("callbacks_passing");
    await fleet.ended("callbacks_passing", runId);
    await done(runId, 3);
    await fleet.query(
      `update task_instance set state = 'failed', epoch = epoch + 1, state_reason = 'marked failed by ada'
       where run_id = $1 and task_id = 'fine'`,
      [runId],
    );
    await done(runId, 4);
    expect((await told(runId))["fine/onFailure"]).toMatchObject({
      reason: "marked failed by ada",
      error: { name: "TaskFailed", message: "marked failed by ada" },
    });
  });

  it("of a task whose worker was killed are run by another one, once", async () => {
    const runId = await trigger("callbacks_slow");
    const job = await waitUntil(
      async () => {
        const rows = await fleet.query<{ job: number }>(
          "select worker_job_id as job from task_instance where run_id = $1 and state = 'running'",
          [runId],
        );
        return rows[0]?.job;
      },
      { what: "the task runs", timeoutMs: 20_000 },
    );
    workers.get(job)?.kill("SIGKILL");
    expect((await fleet.ended("callbacks_slow", runId)).tasks).toEqual({ slow: "failed" });
    expect((await done(runId, 1)).map((row) => [row.kind, row.state])).toEqual([["onFailure", "success"]]);
    const seen = await told(runId);
    expect(seen["slow/onFailure"]?.["reason"]).toMatch(/^worker lost: no heartbeat/);
    expect(seen["slow/onFailure"]?.["error"]).toMatchObject({
      message: expect.stringMatching(/^worker lost/) as string,
    });
  });

  it("are run again under the same key when their worker is killed", async () => {
    // In the place of the one killed before; it lives as long as this test.
    await startWorker();
    const runId = await trigger("callbacks_crashing");
    const key = await waitUntil(
      async () =>
        (await fleet.query<{ val: string }>("select val from variable where key = $1", [`${runId}/first`]))[0]?.val,
      { what: "the callback has begun", timeoutMs: 20_000 },
    );
    expect((await fleet.ended("callbacks_crashing", runId)).state).toBe("success");
    const [before] = await callbacks(runId);
    expect(before).toMatchObject({ id: key, state: "running", attempts: 1 });
    workers.get(before?.worker ?? 0)?.kill("SIGKILL");
    const [after] = await done(runId, 1);
    expect(after).toMatchObject({ id: key, state: "success", attempts: 2 });
    expect(after?.worker).not.toBe(before?.worker);
    const [second] = await fleet.query<{ val: string }>("select val from variable where key = $1", [`${runId}/second`]);
    expect(second?.val).toBe(key);
  });
});
