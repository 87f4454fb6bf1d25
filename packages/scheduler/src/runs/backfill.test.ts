// What schedulers make of backfills: several of them at once, with workers that take no time.
import {
  cancelBackfill,
  clearTasks,
  createBackfill,
  explainRun,
  getBackfill,
  setBackfillPaused,
} from "@millrace/shared/db";
import { describe, expect, test } from "vitest";
import { installation } from "../fixtures/installation.ts";

const it = await installation();
const { db, versions } = it;
const schedule = { kind: "cron", cron: "0 0 * * *", timezone: "UTC", dst: { gap: "shift", fold: "first" } } as const;
const day = (n: number) => new Date(Date.UTC(2026, 0, n));
const wake = () => it.broker.wake([{ dagRunId: null, taskIds: null }]);

interface Given {
  readonly from?: Date;
  readonly to?: Date;
  readonly maxActiveRuns?: number;
  readonly runBackwards?: boolean;
  readonly reprocessBehavior?: "none" | "failed" | "completed";
}
const create = async (given: Given = {}, dagId = "dag") => {
  const id = await createBackfill(db, versions, { dagId, from: day(1), to: day(9), user: "ada", ...given });
  wake();
  return id;
};
const isOver = async (id: number) => (await getBackfill(db, id)).completedAt !== null;
const over = async (id: number) => await it.until("the backfill to be over", () => isOver(id));
/** Days in the order in which their runs started. */
const started = async () =>
  (
    await db.read<{ day: number }>(
      `select extract(day from r.logical_date at time zone 'utc')::int as day
       from dag_run_transition x join dag_run r on r.id = x.dag_run_id where x.to_state = 'running' order by x.id`,
    )
  ).map((row) => row.day);
/** Of the runs, the most that ran at the same time, by the log of transitions. */
const mostAtOnce = async (where: string) =>
  Number(
    (
      await db.read<{ n: number }>(
        `select coalesce(max(n), 0)::int as n from (
           select sum(case when x.to_state = 'running' then 1 when x.from_state = 'running' then -1 else 0 end) over (order by x.id) as n
           from dag_run_transition x join dag_run r on r.id = x.dag_run_id where ${where}) s`,
      )
    )[0]?.n,
  );

const DAYS = [1, 2, 3, 4, 5, 6, 7, 8, 9];

describe("the runs of a backfill", () => {
  test(
    "all run, once each, under its own limit beside the DAG's, with two schedulers",
    { timeout: 60_000 },
    async () => {
      await it.seedDag("dag", { a: {}, b: { upstream: ["a"] } }, { maxActiveRuns: 1, spec: { schedule } });
      it.onMessage(it.work);
      await Promise.all([it.startScheduler(), it.startScheduler()]);
      const id = await create({ to: day(31), maxActiveRuns: 3 });
      for (let n = 0; n < 5; n++) await it.trigger("dag", `m${n}`);
      await over(id);
      expect(await getBackfill(db, id)).toMatchObject({ total: 31, success: 31, left: 0, failed: 0, skipped: 0 });
      expect(await it.count("task_instance_transition where to_state = 'running'")).toBeGreaterThanOrEqual(62);
      expect(await it.count("task_instance where run_id like 'backfill%' and try_number <> 1")).toBe(0);
      expect(await mostAtOnce("r.run_type = 'backfill'")).toBe(3);
      expect(await mostAtOnce("r.run_type <> 'backfill'")).toBe(1);
    },
  );

  test.each([
    [false, DAYS],
    [true, DAYS.toReversed()],
  ])("start in the order of their dates (backwards: %s)", async (runBackwards, expected) => {
    await it.seedDag("dag", { a: {} }, { spec: { schedule } });
    it.onMessage(it.work);
    await Promise.all([it.startScheduler(), it.startScheduler()]);
    await over(await create({ runBackwards, maxActiveRuns: 1 }));
    expect(await started()).toEqual(expected);
  });

  test("that depend on their past run one after the other, the first whatever was before", async () => {
    await it.seedDag("dag", { a: { dependsOnPast: true } }, { spec: { schedule } });
    await db.read(
      `insert into dag_run (dag_id, run_id, run_type, state, run_after, logical_date, created_dag_version_id)
       select 'dag', 'scheduled__0', 'scheduled', 'failed', $1, $1, id from dag_version`,
      [new Date("2025-12-31")],
    );
    it.onMessage(it.work);
    await it.startScheduler();
    const id = await create({ to: day(4), reprocessBehavior: "failed" });
    await over(id);
    expect(await started()).toEqual([1, 2, 3, 4]);
    const [tasks] = await db.read<{ n: number }>(
      `select max(n)::int as n from (
         select sum(case when to_state = 'running' then 1 when from_state = 'running' then -1 else 0 end) over (order by at, epoch) as n
         from task_instance_transition) s`,
    );
    expect(tasks).toEqual({ n: 1 });
    expect(await getBackfill(db, id)).toMatchObject({ success: 4 });
  });

  test("do not start while it or its DAG is paused, and say so", async () => {
    await it.seedDag("dag", { a: {} }, { spec: { schedule } });
    it.onMessage(it.work);
    const id = await create({ maxActiveRuns: 1 });
    await setBackfillPaused(db, id, true, "ada");
    await it.startScheduler();
    await it.until("all dates to have runs", async () => (await getBackfill(db, id)).queued === 9);
    const explain = async (n: number) =>
      (await explainRun(db, versions, it.config, "dag", `backfill__2026-01-0${n + 1}T00:00:00+00:00`)).conditions;
    expect(await explain(1)).toEqual([{ kind: "backfill_paused", backfillId: id }]);
    await it.trigger("dag", "m");
    await it.until(
      "a run of the DAG's own to end",
      async () => (await it.count("dag_run where state = 'success'")) === 1,
    );
    expect(await started()).toHaveLength(1);
    await db.read("update dag set is_paused = true");
    await setBackfillPaused(db, id, false, "ada");
    expect(await explain(1)).toEqual([{ kind: "dag_paused" }]);
    it.onMessage(it.claim);
    await db.read("update dag set is_paused = false");
    wake();
    await it.until("one to run", async () => (await it.count("task_instance where state = 'running'")) === 1);
    expect(await explain(4)).toEqual([
      {
        kind: "backfill_queued_behind",
        backfillId: id,
        of: 1,
        running: ["backfill__2026-01-02T00:00:00+00:00"],
        ahead: 2,
      },
    ]);
  });
});

test("a clear and a mark inside a backfill stop nothing: what is cleared has its turn, and the backfill ends after it", async () => {
  await it.seedDag("dag", { a: {} }, { spec: { schedule } });
  const held: Parameters<typeof it.work>[0][] = [];
  it.onMessage(async (message) => {
    const [row] = await db.read<{ day: number; tries: number }>(
      `select extract(day from logical_date at time zone 'utc')::int as day, try_number as tries from task_instance where id = $1`,
      [message.id],
    );
    if (row?.day === 5 && row.tries === 1 && (await it.claim(message))) held.push(message);
    else await it.work(message);
  });
  await Promise.all([it.startScheduler(), it.startScheduler()]);
  const id = await create({ maxActiveRuns: 1 });
  await it.until("day five to run", () => Promise.resolve(held.length === 1));
  await clearTasks(db, versions, { dagId: "dag", runIds: ["backfill__2026-01-04T00:00:00+00:00"], user: "ada" });
  wake();
  const [message] = held;
  if (message !== undefined) await it.finish(message, "failed");
  await over(id);
  expect(await started()).toEqual([1, 2, 3, 4, 5, 3, 6, 7, 8, 9]);
  expect(await getBackfill(db, id)).toMatchObject({ success: 8, failed: 1, left: 0 });
});

test("what is cleared after the end runs under the limit that it had, also of a cancelled one", async () => {
  await it.seedDag("dag", { a: {} }, { spec: { schedule } });
  it.onMessage(it.claim);
  await it.startScheduler();
  const id = await create({ maxActiveRuns: 1, to: day(3) });
  await it.until("one to run", async () => (await it.count("task_instance where state = 'running'")) === 1);
  expect(await cancelBackfill(db, id, "ada")).toBe(2);
  it.onMessage(it.work);
  await db.read("update dag_run set state = 'failed' where state = 'running'");
  await clearTasks(db, versions, { dagId: "dag", runIds: ["backfill__2026-01-04T00:00:00+00:00"], user: "ada" });
  wake();
  await it.until("it to run again", async () => (await it.count("dag_run where state = 'success'")) === 1);
});

test("what is run again starts from its first task, and a running attempt of a failed run is stopped first", async () => {
  await it.seedDag("dag", { a: {}, b: { upstream: ["a"] } }, { spec: { schedule } });
  let fails = true;
  it.onMessage(async (message) => {
    if (await it.claim(message)) await it.finish(message, fails ? "failed" : "success");
  });
  await it.startScheduler();
  await over(await create({ to: day(3) }));
  fails = false;
  const again = await create({ to: day(4), reprocessBehavior: "failed" });
  await over(again);
  expect(await getBackfill(db, again)).toMatchObject({ total: 4, success: 4, failed: 0 });
  expect(await it.count("dag_run where run_type = 'backfill' and clear_number = 1")).toBe(3);
});

test("ten thousand dates hold no pass up: runs that are triggered meanwhile end", { timeout: 120_000 }, async () => {
  await it.seedDag("dag", { a: {} }, { spec: { schedule: { kind: "delta", seconds: 3_600 } } });
  await it.seedDag("other", { a: {} });
  it.onMessage(it.work);
  await it.startScheduler();
  const id = await create({ from: new Date("2024-01-01"), to: new Date("2025-02-20T15:00:00Z"), maxActiveRuns: 1 });
  await setBackfillPaused(db, id, true, "ada");
  let during = 0;
  for (; (await getBackfill(db, id)).pending > 0; during++) {
    const runId = await it.trigger("other", `m${during}`);
    await it.until(
      "it to end",
      async () => (await it.count("dag_run where run_id = $1 and state = 'success'", [runId])) === 1,
    );
  }
  expect(await getBackfill(db, id)).toMatchObject({ total: 10_000, queued: 10_000 });
  // Each of them ran from its trigger to its end while dates were left.
  expect(during).toBeGreaterThan(3);
});
