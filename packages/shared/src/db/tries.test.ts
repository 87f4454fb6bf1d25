// What happens to a task instance around its attempts: when a try counts, what becomes of XComs, how it is queued.
import { testDatabase } from "@millrace/testkit";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { openDatabase, seedDag, seedRun, seedTask, standings, transitions } from "./fixtures/seed.ts";
import { applyDecisions, claimAttempts, newId, queueTasks, readXComs, redispatchAttempts, writeXCom } from "./index.ts";

const database = await testDatabase();
const db = openDatabase(database.url);
afterAll(() => db.close());

let run: number;
beforeEach(async () => {
  await database.reset();
  run = await seedRun(db, await seedDag(db, "dag", { a: {} }), "r");
});

const claim = (id: string, epoch: number) => db.run(claimAttempts, [[id], [epoch], [newId()], "host", "user", 42, 7]);
const xcoms = () => db.read<{ key: string; value: unknown }>("select key, value from xcom order by key");

describe("the number of a try", () => {
  test.each([
    ["none", "scheduled", 1],
    ["up_for_retry", "scheduled", 1],
    ["up_for_reschedule", "scheduled", 0],
    ["none", "success", 1],
    ["none", "skipped", 0],
    ["none", "upstream_failed", 0],
    ["up_for_retry", "removed", 0],
  ] as const)("from %s to %s rises by %i", async (from, to, by) => {
    const id = await seedTask(db, run, "a", { state: from, try_number: 2 });
    await db.run(applyDecisions, [[id], [5], [from], [to]]);
    const [row] = await db.read(
      "select state, try_number, epoch, scheduled_dttm is not null as scheduled, end_date is not null as ended from task_instance",
    );
    expect(row).toEqual({
      state: to,
      try_number: 2 + by,
      epoch: 6,
      scheduled: to === "scheduled",
      ended: to !== "scheduled",
    });
  });

  test("and the row stay as they are when the row changed since it was read", async () => {
    const id = await seedTask(db, run, "a", { try_number: 0 });
    expect(
      await db.run(applyDecisions, [
        [id, id],
        [4, 5],
        ["none", "up_for_retry"],
        ["scheduled", "scheduled"],
      ]),
    ).toEqual([]);
    expect(await standings(db, "a")).toEqual([{ id, state: "none", epoch: 5 }]);
  });
});

describe("XComs", () => {
  const put = (id: string, key = "k") => db.run(writeXCom, [id, 5, key, '{"v": 1}']);

  test("are written by the attempt that runs, replaced by itself, and read back", async () => {
    const id = await seedTask(db, run, "a", { state: "running" });
    expect(await put(id)).toEqual([{ written: true }]);
    await db.run(writeXCom, [id, 5, "k", "[2]"]);
    expect(
      await db.run(readXComs, [
        ["dag", "dag"],
        ["r", "r"],
        ["a", "a"],
        [-1, -1],
        ["none", "k"],
      ]),
    ).toEqual([{ ordinal: 2, value: [2] }]);
  });

  test.each(["queued", "success", "shutdown", "restarting", "up_for_retry"] as const)(
    "are not written by one that is %s",
    async (state) => {
      expect(await put(await seedTask(db, run, "a", { state }))).toEqual([]);
      expect(await xcoms()).toEqual([]);
    },
  );

  test("of the try before are gone when a new try starts, those of other tasks stay", async () => {
    const [a, b] = [
      await seedTask(db, run, "a", { state: "running", try_number: 1 }),
      await seedTask(db, run, "b", { state: "running" }),
    ];
    await put(a);
    await put(b, "other");
    await db.read("update task_instance set state = 'success', epoch = 6 where task_id = 'a'");
    await db.read("update task_instance set state = null, epoch = 7 where task_id = 'a'");
    await db.read("update task_instance set state = 'scheduled', epoch = 8, try_number = 2 where task_id = 'a'");
    await db.read("update task_instance set state = 'queued', epoch = 9 where task_id = 'a'");
    expect(await xcoms()).toHaveLength(2);
    expect(await claim(a, 9)).toHaveLength(1);
    expect(await xcoms()).toMatchObject([{ key: "other" }]);
  });

  test("stay when an attempt goes on after a trigger", async () => {
    const id = await seedTask(db, run, "a", { state: "running", try_number: 2 });
    await put(id);
    await db.read("update task_instance set state = 'deferred', epoch = 6, next_method = 'resume'");
    await db.read("update task_instance set state = 'scheduled', epoch = 7");
    await db.read("update task_instance set state = 'queued', epoch = 8");
    await claim(id, 8);
    expect(await xcoms()).toHaveLength(1);
  });
});

describe("queueing", () => {
  test("takes what is scheduled, in the order given, and passes by what somebody holds", async () => {
    const ids = await Promise.all(
      [0, 1, 2, 3].map((i) => seedTask(db, run, "a", { state: i === 3 ? "none" : "scheduled", map_index: i })),
    );
    const order = ids.toReversed();
    const holder = await db.dedicated();
    try {
      await holder.query("begin");
      await holder.query("select from task_instance where id = $1 for update", [ids[1]]);
      const queued = await db.run(queueTasks, [order, [5, 5, 5, 5], 9]);
      expect(queued).toEqual([ids[2], ids[0]].map((id) => ({ id, epoch: 6, queue: "default" })));
    } finally {
      await holder.query("rollback");
      await holder.end();
    }
    expect((await standings(db, "a")).map((ti) => ti.state)).toEqual(["queued", "scheduled", "queued", "none"]);
    expect(await db.run(queueTasks, [ids, [4, 4, 4, 4], 9])).toEqual([]);
  });

  test("again, of what nobody claimed, keeps the epoch, so that both messages are one", async () => {
    const id = await seedTask(db, run, "a", { state: "queued", updated_at: new Date(0), queued_dttm: new Date(0) });
    expect(await db.run(redispatchAttempts, [30, 10])).toEqual([{ id, epoch: 5, queue: "default" }]);
    expect(await db.run(redispatchAttempts, [30, 10])).toEqual([]);
    expect(await transitions(db)).toEqual([]);
  });
});
