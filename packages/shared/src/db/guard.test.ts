// The guard as somebody meets it who writes SQL by hand.
import { testDatabase } from "@millrace/testkit";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { RUN_EDGES, RUN_STATES, TASK_EDGES, TASK_STATES } from "../model/index.ts";
import { openDatabase, seedDag, seedRun, seedTask, standings, transitions } from "./fixtures/seed.ts";
import { applyDecisions } from "./index.ts";

const database = await testDatabase();
const db = openDatabase(database.url, { maxConnections: 1, maxRetries: 0 });
afterAll(() => db.close());

let run: number;
beforeEach(async () => {
  await database.reset();
  run = await seedRun(db, await seedDag(db, "dag"), "r");
});

const refused = (code: string, message: RegExp) =>
  expect.objectContaining({ code, message: expect.stringMatching(message) as string });

const outcome = (sql: string, param: string): Promise<string> =>
  db.read(sql, [param]).then(
    () => "accepted",
    (error: { code: string }) => error.code,
  );

describe("a change of a task instance by hand", () => {
  test("is accepted along every edge of the table and refused along every other", async () => {
    const pairs = TASK_STATES.flatMap((from) => TASK_STATES.flatMap((to) => (from === to ? [] : [`${from}>${to}`])));
    await db.read(
      `insert into task_instance (id, task_id, dag_id, run_id, dag_run_id, run_after, state)
       select gen_random_uuid(), pair, 'dag', 'r', $1, now(), nullif(split_part(pair, '>', 1), 'none') from unnest($2::text[]) pair`,
      [run, pairs],
    );
    for (const pair of pairs) {
      const change = `update task_instance set state = nullif(split_part(task_id, '>', 2), 'none'), epoch = epoch + 1 where task_id = $1`;
      expect(`${pair}: ${await outcome(change, pair)}`).toBe(`${pair}: ${TASK_EDGES.has(pair) ? "accepted" : "MR001"}`);
    }
  });

  test("says in words what was refused", async () => {
    await seedTask(db, run, "a", { state: "success" });
    await expect(db.read("update task_instance set state = 'running', epoch = epoch + 1")).rejects.toEqual(
      refused("MR001", /task instance dag\.a of run r cannot go from success to running/),
    );
  });

  test.each([
    ["state without epoch", "state = 'queued'"],
    ["epoch by two", "state = 'queued', epoch = epoch + 2"],
    ["epoch back", "state = 'queued', epoch = epoch - 1"],
    ["another attempt without epoch", "id = gen_random_uuid()"],
    ["owner by two", "epoch = epoch + 2"],
  ])("is refused when it does not raise the epoch by one: %s", async (_what, change) => {
    await seedTask(db, run, "a", { state: "scheduled" });
    await expect(db.read(`update task_instance set ${change}`)).rejects.toEqual(
      refused("MR001", /raises the epoch by one/),
    );
    expect(await transitions(db)).toEqual([]);
  });

  test("is refused when it gives a row another key in the log", async () => {
    await seedTask(db, run, "a");
    for (const change of ["row_id = default", "row_id = default, state = 'scheduled', epoch = epoch + 1"]) {
      await expect(db.read(`update task_instance set ${change}`)).rejects.toEqual(
        refused("MR001", /row_id is the key of its history/),
      );
    }
  });

  test("is refused when it goes on from one illegal change to a legal epoch", async () => {
    await seedTask(db, run, "a", { state: "success" });
    await expect(db.read("update task_instance set state = 'running', epoch = epoch + 2")).rejects.toEqual(
      refused("MR001", /cannot go from success to running/),
    );
  });

  test("is refused whole when one row of many is illegal", async () => {
    await seedTask(db, run, "a", { state: "scheduled" });
    await seedTask(db, run, "b", { state: "success" });
    await expect(db.read("update task_instance set state = 'queued', epoch = epoch + 1")).rejects.toEqual(
      refused("MR001", /dag\.b/),
    );
    expect(await standings(db, "a")).toMatchObject([{ state: "scheduled", epoch: 5 }]);
    expect(await transitions(db)).toEqual([]);
  });

  test("of anything but state, epoch and id is nobody's business and is not logged", async () => {
    await seedTask(db, run, "a", { state: "running" });
    await db.read("update task_instance set latest_heartbeat = now(), pool = 'other'");
    expect(await transitions(db)).toEqual([]);
  });
});

test("a change of a run by hand is accepted along the edges of its table only", async () => {
  const pairs = RUN_STATES.flatMap((from) => RUN_STATES.flatMap((to) => (from === to ? [] : [`${from}>${to}`])));
  await db.read(
    `insert into dag_run (dag_id, run_id, run_type, run_after, state)
     select 'dag', pair, 'manual', now(), split_part(pair, '>', 1) from unnest($1::text[]) pair`,
    [pairs],
  );
  for (const pair of pairs) {
    const change = `update dag_run set state = split_part(run_id, '>', 2) where run_id = $1`;
    expect(`${pair}: ${await outcome(change, pair)}`).toBe(`${pair}: ${RUN_EDGES.has(pair) ? "accepted" : "MR001"}`);
  }
});

describe("the log of transitions", () => {
  test.each(["task_instance_transition", "dag_run_transition"])(
    "%s refuses to be changed, shortened or emptied",
    async (table) => {
      await seedTask(db, run, "a", { state: "scheduled" });
      await db.read("update task_instance set state = 'queued', epoch = epoch + 1");
      await db.read("update dag_run set state = 'failed'");
      for (const sql of [`update ${table} set actor = 'nobody'`, `delete from ${table}`, `truncate ${table}`]) {
        await expect(db.read(sql)).rejects.toEqual(refused("MR002", new RegExp(`${table} is append-only`)));
      }
      expect(await db.read(`select actor from ${table}`)).toEqual([{ actor: "millrace test" }]);
    },
  );

  test("names the process, or whoever the transaction says it acts for", async () => {
    const id = await seedTask(db, run, "a");
    await db.transaction(async (tx) => await tx.run(applyDecisions, [[id], [5], ["none"], ["scheduled"]]), {
      actor: "ada",
    });
    await db.read("update task_instance set state = 'queued', epoch = epoch + 1");
    expect((await transitions(db)).map(({ to, actor }) => [to, actor])).toEqual([
      ["scheduled", "ada"],
      ["queued", "millrace test"],
    ]);
  });

  test("holds a line for each of many rows changed at once", async () => {
    await db.read(
      `insert into task_instance (id, task_id, dag_id, run_id, dag_run_id, run_after, state)
       select gen_random_uuid(), 't' || i, 'dag', 'r', $1, now(), 'scheduled' from generate_series(1, 1000) i`,
      [run],
    );
    // The session's first change is a small one, as in production: its plan is kept.
    await db.read("update task_instance set latest_heartbeat = now() where task_id = 't1'");
    const timed = async (sql: string) => {
      const begin = performance.now();
      await db.read(sql);
      return (performance.now() - begin).toFixed(1);
    };
    const guarded = await timed("update task_instance set state = 'queued', epoch = epoch + 1");
    await db.read("select set_config('session_replication_role', 'replica', false)");
    const bare = await timed("update task_instance set state = 'running', epoch = epoch + 1");
    await db.read("select set_config('session_replication_role', 'origin', false)");
    process.stderr.write(`guard: 1000 rows in ${guarded} ms with it, ${bare} ms without\n`);
    expect(
      await db.read("select count(*)::int as n, count(distinct row_id)::int as rows from task_instance_transition"),
    ).toEqual([{ n: 1_000, rows: 1_000 }]);
  });

  test("is joined without a nested loop, whatever the session changed first", async () => {
    const joins = await db.read(
      `select proname, prosrc like '%new_rows n full join old_rows o%' as "isFull" from pg_proc
       where proname like 'millrace_guard_%' order by proname`,
    );
    expect(joins).toEqual([
      { proname: "millrace_guard_dag_run", isFull: true },
      { proname: "millrace_guard_task_instance", isFull: true },
    ]);
  });
});
