// The triggerer on a real database: whose a trigger is, when it fires, and what becomes of its task.
import { defineStatement, newId, type KeptWait } from "@millrace/shared/db";
import { Cipher, openWait, sealKept, triggerPlace } from "@millrace/shared/secrets";
import { testDatabase, waitUntil } from "@millrace/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openRig, type WaitRig } from "./fixtures/waits.ts";
import type { Triggerer } from "./triggerer.ts";

const database = await testDatabase();
let rig: WaitRig;
let dagRunId: number;

beforeEach(async () => {
  await database.reset();
  rig = await openRig(database.url);
  dagRunId = await rig.seed();
});
afterEach(() => rig.close());

const stateOf = async (taskId: string) => (await rig.tasks())[taskId]?.state;
const until = (what: string, check: () => Promise<boolean>) => waitUntil(check, { what });
const shares = async () =>
  (
    await rig.db.read<{ n: number }>(
      "select count(*)::int as n from trigger where triggerer_id is not null group by triggerer_id order by n",
    )
  ).map((row) => row.n);
const orphans = async () => (await rig.db.read<{ n: number }>("select count(*)::int as n from trigger"))[0]?.n;
const inFuture = { afterSeconds: 3_600 };

test("a task resumes with the event and what it kept, in the same try, and its trigger is gone", async () => {
  await rig.triggerer();
  await rig.defer({
    due: { kwargs: { at: "2026-01-01T00:00:00+01:00" }, state: { step: 2 } },
    later: { kwargs: inFuture },
  });
  await until("the task is scheduled", async () => (await stateOf("due")) === "scheduled");
  expect((await rig.tasks())["due"]).toMatchObject({
    epoch: 5,
    triggerId: null,
    event: { kind: "event", payload: { at: "2025-12-31T23:00:00.000Z" } },
    kept: { step: 2 },
  });
  expect([await stateOf("later"), await orphans()]).toEqual(["deferred", 1]);
});

test("a wait is over not before its time, by the database's clock", async () => {
  await rig.triggerer();
  const [now] = await rig.db.read<{ at: Date }>("select now() + interval '300 ms' as at");
  await rig.defer({ at: { kwargs: { at: now?.at.toISOString() } }, after: { kwargs: { afterSeconds: 0.2 } } });
  await until(
    "both fired",
    async () => (await stateOf("at")) === "scheduled" && (await stateOf("after")) === "scheduled",
  );
  const early = await rig.db.read(
    `select ti.task_id from task_instance ti join task_instance_transition l using (row_id)
     where l.to_state = 'scheduled' and l.at < (ti.next_kwargs->'event'->'payload'->>'at')::timestamptz`,
  );
  expect(early).toEqual([]);
});

test("the scheduler is woken for the tasks that resume", async () => {
  await rig.triggerer();
  await rig.defer({ due: { kwargs: { afterSeconds: 0 } } });
  let wakes: unknown[] = [];
  await until("it is woken", async () => (wakes = [...wakes, ...(await rig.broker.takeWakes(200))]).length > 0);
  expect(wakes).toEqual([{ dagRunId, taskIds: ["due"] }]);
});

test.each([
  ["at", { at: "tomorrow" }, "needs `at` to be an ISO 8601 date"],
  ["afterSeconds", { afterSeconds: -1 }, "needs `afterSeconds` to be a number from 0"],
  ["nothing", {}, "needs `at` to be an ISO 8601 date, or `afterSeconds` a number"],
])("a wait with wrong arguments (%s) tells its task", async (_, kwargs, message) => {
  await rig.triggerer();
  await rig.defer({ t: { kwargs, nextMethod: "end" } });
  await until("it is told", async () => (await stateOf("t")) === "scheduled");
  const error = { name: "TriggerArguments", message: expect.stringContaining(message) as string };
  expect((await rig.tasks())["t"]?.event).toEqual({ kind: "failed", error });
});

test("a trigger that is not built in, and one whose arguments cannot be read, tell their tasks", async () => {
  await rig.triggerer();
  const ids = await rig.defer({ unknown: { name: "millrace.nonsense" }, unread: { kwargs: 5 } });
  expect(Object.keys(ids)).toHaveLength(2);
  await until("both are told", async () =>
    Object.values(await rig.tasks()).every((task) => task.state === "scheduled"),
  );
  const tasks = await rig.tasks();
  expect(tasks["unknown"]?.event).toMatchObject({
    error: { name: "TriggerNotFound", message: "there is no trigger millrace.nonsense" },
  });
  expect(tasks["unread"]?.event).toMatchObject({ error: { name: "TriggerArguments" } });
});

test("an event that is the task's value ends it without a worker", async () => {
  await rig.triggerer();
  await rig.defer({ value: { kwargs: { at: "2026-01-01T00:00:00Z" }, nextMethod: "end" } });
  await until("it succeeded", async () => (await stateOf("value")) === "success");
  expect(await rig.db.read("select key, value from xcom")).toEqual([
    { key: "return_value", value: { at: "2026-01-01T00:00:00.000Z" } },
  ]);
  expect(await orphans()).toBe(0);
});

test("a value that is its run's result is marked as that, alone of those that end with it", async () => {
  const at = { kwargs: { at: "2026-01-01T00:00:00Z" }, nextMethod: "end" } as const;
  await rig.defer({ value: at, result: at });
  await rig.triggerer();
  await until("both succeeded", async () => Object.values(await rig.tasks()).every((task) => task.state === "success"));
  expect(await rig.db.read("select task_id, dag_result from xcom order by 1")).toEqual([
    { task_id: "result", dag_result: true },
    { task_id: "value", dag_result: false },
  ]);
});

test("a burst is shared, and a triggerer that is full leaves the rest to others", async () => {
  await Promise.all([rig.triggerer(), rig.triggerer()]);
  await rig.deferMany(400, () => inFuture);
  await until("all are taken", async () => (await shares()).reduce((sum, n) => sum + n, 0) === 400);
  expect(Math.min(...(await shares()))).toBeGreaterThan(120);
});

test("no triggerer takes more than its capacity, the weightiest tasks first", async () => {
  await rig.defer({
    light: { kwargs: inFuture },
    heavy: { kwargs: inFuture, weight: 9 },
    middle: { kwargs: inFuture, weight: 5 },
  });
  await rig.triggerer({ MILLRACE__TRIGGERER__CAPACITY: "2" });
  await until("two are taken", async () => (await shares())[0] === 2);
  const tasks = await rig.tasks();
  expect([
    tasks["light"]?.triggererId,
    typeof tasks["heavy"]?.triggererId,
    typeof tasks["middle"]?.triggererId,
  ]).toEqual([null, "number", "number"]);
});

test("queues: a triggerer with some takes those, one without takes what names none", async () => {
  const due = { kwargs: { afterSeconds: 0 } };
  await rig.triggerer({ MILLRACE__TRIGGERER__QUEUES: "gpu,eu" });
  await rig.defer({ gpu: { ...due, queue: "gpu" }, none: due, other: { ...due, queue: "other" } });
  await until("gpu fired", async () => (await stateOf("gpu")) === "scheduled");
  expect([await stateOf("none"), await stateOf("other")]).toEqual(["deferred", "deferred"]);
  await rig.triggerer();
  await until("none fired", async () => (await stateOf("none")) === "scheduled");
  expect(await stateOf("other")).toBe("deferred");
});

test("a question to people is nobody's: it takes no capacity", async () => {
  await rig.triggerer();
  await rig.defer({ asked: { name: "millrace.hitl" }, due: { kwargs: { afterSeconds: 0 } } });
  await until("the other fired", async () => (await stateOf("due")) === "scheduled");
  expect((await rig.tasks())["asked"]).toMatchObject({ state: "deferred", triggererId: null });
});

test("a triggerer that stops gives its triggers to the others at once", async () => {
  const first: Triggerer = await rig.triggerer({ MILLRACE__TRIGGERER__TRIGGERER_HEALTH_CHECK_THRESHOLD: "60" });
  await rig.deferMany(50, () => inFuture);
  await until("they are taken", async () => (await shares())[0] === 50);
  const [before] = await rig.db.read<{ id: number }>("select distinct triggerer_id as id from trigger");
  await rig.triggerer({
    MILLRACE__TRIGGERER__TRIGGERER_HEALTH_CHECK_THRESHOLD: "60",
    MILLRACE__TRIGGERER__JOB_HEARTBEAT_SEC: "20",
  });
  await first.stop();
  await until("the other has them", async () => {
    const owners = await rig.db.read<{ id: number | null }>("select distinct triggerer_id as id from trigger");
    return owners.length === 1 && owners[0]?.id !== null && owners[0]?.id !== before?.id;
  });
});

test("triggers of a silent triggerer, and those of one that nobody knows, are taken over", async () => {
  const ids = await rig.defer({ silent: { kwargs: { afterSeconds: 0 } }, unknown: { kwargs: { afterSeconds: 0 } } });
  const [job] = await rig.db.read<{ id: number }>(
    `insert into job (job_type, state, latest_heartbeat) values ('TriggererJob', 'running', now() - interval '1 minute') returning id`,
  );
  await rig.db.read("update trigger set triggerer_id = case when id = $1 then $2::int else 999999 end", [
    ids["silent"],
    job?.id,
  ]);
  await rig.triggerer();
  await until("both fired", async () => Object.values(await rig.tasks()).every((task) => task.state === "scheduled"));
});

test("a trigger that was given to another, or lost on its way here, is noticed", async () => {
  await rig.triggerer();
  await rig.defer({ mine: { kwargs: inFuture } });
  await until("it is taken", async () => (await shares())[0] === 1);
  const [owner] = await rig.db.read<{ id: number }>("select triggerer_id as id from trigger");
  // A claim whose answer was lost: the row is this triggerer's, and it has never heard of it.
  await rig.db.read(
    `with made as (insert into trigger (classpath, kwargs, triggerer_id) values ('millrace.time', '{"afterSeconds": 0}', $1) returning id)
     insert into task_instance (id, dag_run_id, dag_id, run_id, run_after, dag_version_id, task_id, state, epoch, try_number, trigger_id)
     select $2, r.id, r.dag_id, r.run_id, r.run_after, r.created_dag_version_id, 'lost', 'deferred', 4, 1, made.id
     from dag_run r, made where r.id = $3`,
    [owner?.id, newId(), dagRunId],
  );
  await until("it fires", async () => (await stateOf("lost")) === "scheduled");
});

const lockTask = defineStatement<readonly [triggerId: number], never>({
  name: "test-lock-task",
  sql: "select from task_instance where trigger_id = $1 for update",
});
const clearTask = defineStatement<readonly [triggerId: number], never>({
  name: "test-clear-task",
  sql: `
with cleared as (
  update task_instance set state = null, epoch = epoch + 1, trigger_id = null, next_method = null where trigger_id = $1
)
delete from trigger where id = $1`,
});

test("a task that was cleared is not resumed by what its trigger still says", async () => {
  const ids = await rig.defer({ t: { kwargs: { afterSeconds: 0 } } });
  await rig.db.transaction(async (tx) => {
    // What fires waits for the row of the task, until that is cleared.
    await tx.run(lockTask, [ids["t"] ?? 0]);
    await rig.triggerer();
    await until("its trigger fires", async () => {
      const waiting = "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()";
      return (await rig.db.read(waiting)).length > 0;
    });
    await tx.run(clearTask, [ids["t"] ?? 0]);
  });
  await rig.defer({ other: { kwargs: { afterSeconds: 0 } } });
  await until("the other fired", async () => (await stateOf("other")) === "scheduled");
  expect(await stateOf("t")).toBeNull();
});

test("what a handler gave its trigger is encrypted until a triggerer with the key has it; without, its task fails saying why", async () => {
  const key = "a key of thirty-two characters or more";
  await rig.defer({ mine: { kwargs: {} }, foreign: { kwargs: {} }, moved: { kwargs: {} } });
  const attempts = await rig.db.read<{ id: string; taskId: string; triggerId: number }>(
    `select id, task_id as "taskId", trigger_id as "triggerId" from task_instance`,
  );
  const idOf = (taskId: string) => attempts.find((one) => one.taskId === taskId)?.id ?? "";
  const json = JSON.stringify({ at: "2026-01-01T00:00:00Z" });
  for (const { taskId, triggerId, id } of attempts) {
    const cipher = new Cipher([taskId === "foreign" ? "another key of thirty-two characters" : key]);
    await rig.db.read("update trigger set kwargs = $2 where id = $1", [
      triggerId,
      sealKept(cipher, json, triggerPlace(taskId === "moved" ? idOf("mine") : id, null)),
    ]);
  }
  await rig.triggerer({ MILLRACE__CORE__ENCRYPTION_KEY: key });
  await until("the one that can be read fires", async () => (await stateOf("mine")) === "scheduled");
  // What they are told is encrypted as well.
  const told = async (taskId: string) => {
    const [row] = await rig.db.read<{ dagRunId: number; mapIndex: number; kept: KeptWait }>(
      `select dag_run_id as "dagRunId", map_index as "mapIndex", next_kwargs as kept from task_instance where task_id = $1`,
      [taskId],
    );
    if (row?.kept.sealed_event === undefined) return JSON.stringify(row);
    return JSON.stringify(openWait(new Cipher([key]), row.kept, { ...row, taskId }));
  };
  await until("the others are told why not", async () => (await told("foreign")).includes("with another key"));
  await until("the others are told why not", async () => (await told("moved")).includes("belongs to another row"));
  expect(await told("moved")).not.toContain("2026-01-01");
});
