// Backfills in the database: how they are made, filled by several at once, changed and ended. What schedulers do with the
// runs is tested there.
import { testDatabase, waitUntil } from "@millrace/testkit";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { openDatabase, seedDag, seedRun, seedTask, type SeededDag } from "../fixtures/seed.ts";
import {
  cancelBackfill,
  completeBackfills,
  createBackfill,
  DagVersions,
  defineStatement,
  fillBackfill,
  getBackfill,
  listBackfills,
  listSkippedDates,
  previewBackfill,
  setBackfillPaused,
  type BackfillRequest,
} from "../index.ts";

const database = await testDatabase();
const db = openDatabase(database.url, { maxConnections: 8 });
const versions = new DagVersions(db);
afterAll(() => db.close());

const schedule = { kind: "cron", cron: "0 0 * * *", timezone: "UTC", dst: { gap: "shift", fold: "first" } } as const;
const day = (n: number) => new Date(Date.UTC(2026, 0, n));
let dag: SeededDag;

const request = (given: Partial<BackfillRequest> = {}): BackfillRequest => ({
  dagId: "dag",
  from: day(1),
  to: day(5),
  user: "ada",
  ...given,
});
const create = async (given: Partial<BackfillRequest> = {}) => await createBackfill(db, versions, request(given));
const fillOnce = async () => await db.transaction(async (tx) => await fillBackfill(tx, versions, [], () => undefined));
const fill = async () => {
  const stopped: string[] = [];
  for (;;) {
    const filled = await fillOnce();
    if (filled === undefined) return stopped;
    stopped.push(...filled.stopped);
  }
};
const runs = async () =>
  (
    await db.read<{ day: number; state: string; type: string; id: number | null }>(
      `select extract(day from logical_date at time zone 'utc')::int as day, state, run_type as type, backfill_id as id
       from dag_run where logical_date is not null order by logical_date`,
    )
  ).map((run) => `${run.day} ${run.state} ${run.type} ${run.id ?? "-"}`);
const scheduled = async (n: number, state: string, taskState?: string): Promise<number> => {
  const id = await seedRun(db, dag, `scheduled__${n}`, { state, runType: "scheduled", runAfter: day(n + 1) });
  await db.read("update dag_run set logical_date = $2 where id = $1", [id, day(n)]);
  await seedTask(db, id, "a", { state: (taskState ?? (state === "success" ? "success" : "failed")) as "success" });
  return id;
};
const insertScheduled = defineStatement<readonly [at: Date, versionId: string], never>({
  name: "test-insert-scheduled",
  sql: `insert into dag_run (dag_id, run_id, run_type, run_after, logical_date, created_dag_version_id)
    values ('dag', 'scheduled__1', 'scheduled', $1, $1, $2)`,
});
const log = () => db.read("select event, dag_id, owner, extra from log order by id");

beforeEach(async () => {
  await database.reset();
  dag = await seedDag(db, "dag", { a: {}, b: { upstream: ["a"] } }, { schedule });
});

describe("a backfill", () => {
  test("becomes one queued run a date, each with its tasks, interval, conf and user", async () => {
    const id = await create({ conf: { region: "eu" } });
    expect(await runs()).toEqual([]);
    expect(await getBackfill(db, id)).toMatchObject({ total: 5, pending: 5, left: 5, queued: 0, maxActiveRuns: 10 });
    await fill();
    expect(await runs()).toEqual([1, 2, 3, 4, 5].map((n) => `${n} queued backfill ${id}`));
    const [first] = await db.read("select * from dag_run order by logical_date limit 1");
    expect(first).toMatchObject({
      run_id: "backfill__2026-01-02T00:00:00+00:00",
      data_interval_start: day(1),
      data_interval_end: day(2),
      run_after: day(2),
      conf: { region: "eu" },
      triggered_by: "BACKFILL",
      triggering_user_name: "ada",
    });
    expect(await db.read("select count(*)::int as n from task_instance where state is null")).toEqual([{ n: 10 }]);
    expect(await getBackfill(db, id)).toMatchObject({ total: 5, pending: 0, queued: 5, left: 5, completedAt: null });
    expect(await log()).toEqual([
      { event: "create_backfill", dag_id: "dag", owner: "ada", extra: `backfill ${id}: 5 dates` },
    ]);
  });

  test("leaves alone what exists unless it is to be run again, and says why", async () => {
    for (const [n, state] of [
      [1, "success"],
      [2, "failed"],
      [3, "running"],
      [4, "queued"],
    ] as const) {
      await scheduled(n, state);
    }
    const id = await create();
    await fill();
    expect(await runs()).toEqual([
      "1 success scheduled -",
      "2 failed scheduled -",
      "3 running scheduled -",
      "4 queued scheduled -",
      `5 queued backfill ${id}`,
    ]);
    expect((await listSkippedDates(db, id, 10)).map((date) => date.exceptionReason)).toEqual([
      "already exists",
      "already exists",
      "in flight",
      "in flight",
    ]);
    expect(await getBackfill(db, id)).toMatchObject({ total: 5, skipped: 4, queued: 1 });
  });

  test.each([
    ["failed", ["1 success scheduled -", "2 queued backfill 1", "3 queued backfill 1"]],
    ["completed", ["1 queued backfill 1", "2 queued backfill 1", "3 queued backfill 1"]],
  ] as const)("runs again what is %s: it is cleared whole and becomes its own", async (reprocessBehavior, expected) => {
    await scheduled(1, "success");
    await scheduled(2, "failed");
    await create({ to: day(3), reprocessBehavior, conf: { again: true } });
    await fill();
    expect((await runs()).map((run) => run.replace(/\d+$/, "1"))).toEqual(expected);
    expect(await db.read("select conf, run_id, clear_number from dag_run where logical_date = $1", [day(2)])).toEqual([
      { conf: { again: true }, run_id: "scheduled__2", clear_number: 1 },
    ]);
    const [task] = await db.read<{ state: string | null }>(
      "select state from task_instance where run_id = 'scheduled__2'",
    );
    expect(task?.state).toBeNull();
  });

  test("never takes a manual run for that of the date", async () => {
    const id = await seedRun(db, dag, "mine", { state: "success" });
    await db.read("update dag_run set logical_date = $2 where id = $1", [id, day(1)]);
    await create({ to: day(1), reprocessBehavior: "completed" });
    await fill();
    expect((await runs()).map((run) => run.replace(/ \d+$/, ""))).toEqual(["1 success manual -", "1 queued backfill"]);
  });

  test("gives a date whose run id another date has one of its own", async () => {
    await seedRun(db, dag, "backfill__2026-01-02T00:00:00+00:00", { state: "success", runType: "backfill" });
    await create({ to: day(1) });
    await fill();
    expect(await runs()).toHaveLength(1);
  });

  test("turned round has the latest date first", async () => {
    const id = await create({ runBackwards: true });
    expect(
      await db.read(
        "select logical_date as at from backfill_dag_run where backfill_id = $1 order by sort_ordinal limit 1",
        [id],
      ),
    ).toEqual([{ at: day(5) }]);
  });
});

test(
  "however many fill it at once and whoever of them dies, each date is come to once",
  { timeout: 60_000 },
  async () => {
    const id = await create({ from: new Date("2020-01-01"), to: new Date("2025-12-31") });
    const total = (await getBackfill(db, id)).total;
    expect(total).toBe(2_192);
    let died = 0;
    const filler = async () => {
      for (let round = 0; ; round++) {
        try {
          const filled = await db.transaction(async (tx) => {
            const done = await fillBackfill(tx, versions, [], () => undefined);
            if (done !== undefined && round % 2 === 0) throw new Error("killed before the commit");
            return done;
          });
          if (filled === undefined && (await getBackfill(db, id)).pending === 0) return;
        } catch (error) {
          if (!(error instanceof Error) || error.message !== "killed before the commit") throw error;
          died += 1;
        }
      }
    };
    await Promise.all([filler(), filler(), filler(), filler()]);
    expect(died).toBeGreaterThan(3);
    expect(
      await db.read("select count(*)::int as runs, count(distinct logical_date)::int as dates from dag_run"),
    ).toEqual([{ runs: total, dates: total }]);
    expect(await getBackfill(db, id)).toMatchObject({ pending: 0, queued: total, skipped: 0 });
    expect(await db.read("select count(*)::int as n from task_instance")).toEqual([{ n: 2 * total }]);
  },
);

test("a run that the schedule makes meanwhile is seen when the date is come to again", async () => {
  const id = await create({ to: day(2) });
  const filling = await db.transaction(async (tx) => {
    await tx.run(insertScheduled, [day(1), dag.versionId]);
    const waiting = fill();
    // It waits for the end of this transaction, whose row it cannot see.
    const isBlocked = async () => (await db.read("select from pg_locks where not granted")).length > 0;
    await waitUntil(isBlocked, { what: "the filling to wait", timeoutMs: 10_000 });
    return { waiting };
  });
  await filling.waiting;
  expect(await runs()).toEqual(["1 queued scheduled -", `2 queued backfill ${id}`]);
  expect(await listSkippedDates(db, id, 10)).toEqual([{ logicalDate: day(1), exceptionReason: "in flight" }]);
});

describe("is refused", () => {
  test("while another of the DAG is active, also when both come at once", async () => {
    const settled = await Promise.allSettled([create(), create(), create()]);
    expect(settled.filter((one) => one.status === "fulfilled")).toHaveLength(1);
    await expect(create()).rejects.toMatchObject({ code: "BACKFILL_ACTIVE" });
    expect(await log()).toHaveLength(1);
  });

  test.each<[string, Partial<BackfillRequest>]>([
    ["DAG_NOT_FOUND", { dagId: "nope" }],
    ["BACKFILL_RANGE_INVALID", { from: day(2), to: day(1) }],
    ["BACKFILL_RANGE_INVALID", { from: new Date("2100-01-01"), to: new Date("2100-02-01") }],
    ["BACKFILL_EMPTY", { from: new Date("2026-01-01T01:00:00Z"), to: new Date("2026-01-01T02:00:00Z") }],
    ["RUN_CONF_INVALID", { conf: [1] }],
  ])("%s: %j", async (code, given) => {
    await expect(create(given)).rejects.toMatchObject({ code });
    await expect(previewBackfill(db, versions, request(given))).rejects.toMatchObject({ code });
    expect(await db.read("select from backfill")).toEqual([]);
  });

  test("for a DAG without a schedule, and for more dates than anybody looks at", async () => {
    await seedDag(db, "unscheduled");
    await expect(create({ dagId: "unscheduled" })).rejects.toMatchObject({ code: "BACKFILL_NO_SCHEDULE" });
    await seedDag(db, "seconds", {}, { schedule: { kind: "delta", seconds: 1 } });
    await expect(create({ dagId: "seconds" })).rejects.toMatchObject({ code: "BACKFILL_TOO_LARGE" });
  });
});

test("a dry run gives the dates that would get a run, and changes nothing", async () => {
  await scheduled(1, "success");
  await scheduled(2, "failed");
  const { dates, leftOut } = await previewBackfill(db, versions, request({ to: day(3), reprocessBehavior: "failed" }));
  expect(dates).toEqual([
    { logicalDate: day(2), verdict: "reprocess" },
    { logicalDate: day(3), verdict: "create" },
  ]);
  expect(leftOut).toBe(1);
  expect(await db.read("select from backfill")).toEqual([]);
  expect(await log()).toEqual([]);
});

describe("ends", () => {
  test("when no date is to be come to and no run is open, once", async () => {
    const id = await create({ to: day(1) });
    const close = async () => (await db.run(completeBackfills, [])).map((one) => one.id);
    expect(await close()).toEqual([]);
    await fill();
    expect(await close()).toEqual([]);
    await db.read("update dag_run set state = 'running'");
    expect(await close()).toEqual([]);
    await db.read("update dag_run set state = 'success', start_date = now(), end_date = now()");
    expect((await Promise.all([close(), close()])).flat()).toEqual([id]);
    expect(await getBackfill(db, id)).toMatchObject({ success: 1, left: 0, completedAt: expect.any(Date) as unknown });
    await create();
  });

  test("when it is cancelled: what has not begun fails without callbacks, what runs goes on, the rest gets no run", async () => {
    const id = await create();
    await fill();
    await db.read("update dag_run set state = 'running' where logical_date = $1", [day(1)]);
    await db.read("update dag_run set callbacks = '{onFailure}'");
    await db.read("update backfill_dag_run set is_pending = true, dag_run_id = null where sort_ordinal = 5");
    await db.read("delete from dag_run where logical_date = $1", [day(5)]);
    expect(await cancelBackfill(db, id, "bob")).toBe(3);
    expect(await runs()).toEqual([`1 running backfill ${id}`, ...[2, 3, 4].map((n) => `${n} failed backfill ${id}`)]);
    expect(await getBackfill(db, id)).toMatchObject({ isPaused: true, pending: 0, skipped: 1, running: 1, failed: 3 });
    expect(await db.read("select from callback")).toEqual([]);
    expect(await db.read("select distinct state_reason as reason from dag_run where state = 'failed'")).toEqual([
      { reason: `cancelled with backfill ${id} by bob` },
    ]);
    expect((await log()).at(-1)).toMatchObject({ event: "cancel_backfill", owner: "bob" });
    for (const isPaused of [true, false]) {
      await expect(setBackfillPaused(db, id, isPaused, "x")).rejects.toMatchObject({ code: "BACKFILL_COMPLETED" });
    }
    await expect(cancelBackfill(db, id, "x")).rejects.toMatchObject({ code: "BACKFILL_COMPLETED" });
    await expect(cancelBackfill(db, 999, "x")).rejects.toMatchObject({ code: "BACKFILL_NOT_FOUND" });
    expect(await fillOnce()).toBeUndefined();
  });
});

test("backfills are listed by DAG, and told apart by whether they are over", async () => {
  const first = await create({ to: day(1) });
  await cancelBackfill(db, first, "ada");
  const second = await create();
  await seedDag(db, "other", {}, { schedule });
  await create({ dagId: "other" });
  expect((await listBackfills(db, { dagId: "dag" })).items.map((b) => b.id)).toEqual([first, second]);
  expect((await listBackfills(db, { dagId: "dag", isActive: true })).items.map((b) => b.id)).toEqual([second]);
  expect((await listBackfills(db, { limit: 1, orderBy: ["-id"] })).totalEntries).toBe(3);
});
