// The contract of every statement: Postgres can plan it on a migrated database, it changes only the states that it
// declares, and each change raises the epoch by one and leaves one line in the log.
import { testDatabase } from "@millrace/testkit";
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { RUN_EDGES, RUN_STATES, TASK_EDGES, TASK_STATES, type RunState, type TaskState } from "../model/index.ts";
import { openDatabase, seedDag, seedRun, seedTask, standings, transitions } from "./fixtures/seed.ts";
import { allStatements, defineStatement, newId, type Database, type Statement } from "./index.ts";

const database = await testDatabase();
const db = openDatabase(database.url, { maxConnections: 1, maxRetries: 0 });
afterAll(() => db.close());
beforeEach(() => database.reset());

type AnyStatement = Statement<readonly unknown[], unknown>;

const EPOCH = 5;
const TRIGGER = 7;
/** Stands for the id of the seeded version. */
const VERSION = "version";
/** The run is of this one. */
const BACKFILL = 1;
const OLD = new Date("2020-01-01T00:00:00Z");

/** What a statement is called with so that it would move the task instance if it can; `to` where the caller chooses. */
const TASK_CALLS: Readonly<Record<string, (id: string, from: TaskState, to: TaskState) => readonly unknown[]>> = {
  "answer-question": (id) => [id, EPOCH, "[]", "{}", "{}"],
  "apply-decisions": (id, from, to) => [[id], [EPOCH], [from], [to]],
  "claim-attempts": (id) => [[id], [EPOCH], [newId()], "host", "user", 1, 1],
  "clear-attempts": (id) => [[id], [EPOCH], [newId()], [0]],
  "confirm-stopped": (id) => [[id], [EPOCH], [newId()], [0]],
  "defer-attempts": (id) => [[id], [EPOCH], ["millrace.time"], ["{}"], [null], ["resume"], ["null"], [5], [null]],
  "collapse-tasks": (id) => [[id], [EPOCH]],
  "encrypt-kept-waits": (id) => [[id], ["{}"]],
  "expand-tasks": (id) => [[id], [EPOCH], [id], [newId()], [1]],
  "fail-unclaimed-attempts": () => [1, 10],
  "finish-attempts": (id, _from, to) => [[id], [EPOCH], [to], [null], [], [], [], [null]],
  "heartbeat-attempts": (id) => [[id], 7],
  "label-attempts": (id) => [[id], [EPOCH], ["a label"]],
  "lock-lost-attempts": () => [-1, 10],
  "mark-attempts": (id, _from, to) => [[id], [EPOCH], [to], ["marked"]],
  "queue-tasks": (id) => [[id], [EPOCH], 1],
  "read-attempts": (id) => [[id]],
  "redispatch-attempts": () => [-1, 10],
  "rebuild-queue": () => ["00000000-0000-0000-0000-000000000000", 10],
  "adopt-orphans": () => [99, 10],
  "refresh-task-instances": (id) => [[id], VERSION, ["p"], [1], ["q"], [""], [1], ["task"], ["a"], [""]],
  "remove-attempts": (id) => [[id], [EPOCH]],
  "reschedule-attempts": (id) => [[id], [EPOCH], [1], [OLD]],
  "retry-attempts": (id) => [[id], [EPOCH], [newId()], [1], [false], [false], ["it failed"]],
  "start-from-triggers": (id, from) => [[id], [EPOCH], [from], ["millrace.time"], ["{}"], [null], ["end"], [null]],
  "stop-attempts": (id, _from, to) => [[id], [to], [null], ["stopped"]],
  "finish-deferred": (id, _from, to) => [[id], [EPOCH], [to], [null], [], [], [], [null]],
  "resume-deferred": () => [[TRIGGER], ['{"kind": "event", "payload": null}'], [false]],
  "retry-deferred": (id) => [[id], [EPOCH], [newId()], [1], ["its trigger ended it as failed"]],
  "time-out-triggers": () => [10],
  "write-xcom": (id) => [id, EPOCH, "key", "1"],
};

const RUN_CALLS: Readonly<Record<string, (id: number, to: RunState) => readonly unknown[]>> = {
  "cancel-backfill-runs": () => [BACKFILL, "cancelled"],
  "finish-runs": (id, to) => [[id], [to], ["reason"]],
  "mark-runs": (id, to) => [[id], to, "marked"],
  "requeue-runs": (id) => [[id]],
  "start-runs": (id) => [[id]],
};

/** What reads mapped tasks, their lists and values: of run `r`, task `mapped`, which has `MAPPED` instances. */
const MAPPED = 500;
const MAPPED_READS: Readonly<Record<string, (run: number) => readonly unknown[]>> = {
  "load-mapped-tasks": () => [["dag"], ["r"], ["mapped"]],
  "load-tasks": () => [["dag"], ["r"], ["mapped"]],
  "read-list-lengths": (run) => [
    [run, run],
    ["mapped", "a"],
    ["[]", '["files"]'],
    [true, false],
  ],
  "read-mapped-indexes": () => ["dag", "r", "mapped"],
  "read-mapped-xcoms": () => ["dag", "r", "mapped", 100, 50],
  "read-mapped-xcoms-after": () => ["dag", "r", "mapped", 100, 50],
  "read-xcom-versions": (run) => [[run], ["a"], [null]],
  "read-xcoms": () => [
    ["dag", "dag"],
    ["r", "r"],
    ["mapped", "a"],
    [3, -1],
    ["return_value", "return_value"],
  ],
};

const taskEdges = (statement: AnyStatement) => statement.transitions.filter((edge) => !edge.startsWith("run "));
const runEdges = (statement: AnyStatement) =>
  statement.transitions.flatMap((edge) => (edge.startsWith("run ") ? [edge.slice(4)] : []));

const statements = allStatements();
const named = (names: readonly string[]) => statements.filter((statement) => names.includes(statement.name));

test("two statements cannot share a name", () => {
  expect(() => defineStatement({ name: "claim-attempts", sql: "select 1" })).toThrow("Two statements are named");
  expect(statements.length).toBeGreaterThan(40);
});

test.each(statements)("$name can be prepared on a migrated database", async ({ sql }) => {
  await db.read(`prepare contract as ${sql}`);
  await db.read("deallocate contract");
});

test.each(statements)("$name declares edges of the model only", (statement) => {
  for (const edge of taskEdges(statement)) expect(TASK_EDGES).toContain(edge);
  for (const edge of runEdges(statement)) expect(RUN_EDGES).toContain(edge);
});

test("every statement that declares a change of a task instance is tried below, and so is every one that updates it", () => {
  const updating = statements.filter((s) => /update task_instance\b/.test(s.sql) || taskEdges(s).length > 0);
  expect(updating.map((statement) => statement.name).filter((name) => TASK_CALLS[name] === undefined)).toEqual([]);
  const runs = statements.filter((s) => /update dag_run r? ?set state\b/.test(s.sql) || runEdges(s).length > 0);
  expect(runs.map((statement) => statement.name).filter((name) => RUN_CALLS[name] === undefined)).toEqual([]);
});

const target = (edge: string): string => edge.slice(edge.indexOf(">") + 1);

describe("from every state of a task instance", () => {
  test.each(named(Object.keys(TASK_CALLS)))(
    "$name moves along the edges it declares and no other",
    async (statement) => {
      const call = TASK_CALLS[statement.name];
      const declared = taskEdges(statement);
      const targets = new Set(declared.map(target) as TaskState[]);
      const moved = new Set<string>();
      for (const from of TASK_STATES) {
        for (const to of targets.size === 0 ? (["none"] as const) : targets) {
          await database.reset();
          const run = await seedRun(db, await seedDag(db, "dag"), "r");
          await db.read("insert into trigger (id, classpath, kwargs) values ($1, 'millrace.time', '{}')", [TRIGGER]);
          const old = {
            trigger_id: TRIGGER,
            latest_heartbeat: OLD,
            queued_dttm: OLD,
            start_date: OLD,
            trigger_timeout: OLD,
            try_number: 1,
            max_tries: 1,
          };
          const mark = ["success", "failed", "skipped"].includes(to) ? to : null;
          const id = await seedTask(db, run, "a", { state: from, worker_job_id: 7, mark, ...old });
          await db.read(
            "insert into hitl_detail (ti_id, dag_run_id, options, subject) values ($1, $2, '[]', 'go on?')",
            [id, run],
          );
          const [version] = await db.read<{ id: string }>("select id from dag_version");
          const params = (call?.(id, from, to) ?? []).map((param) => (param === VERSION ? version?.id : param));
          await db.run(statement, params);
          const [after] = await standings(db, "a");
          const logged = await transitions(db);
          if (after?.state === from) {
            expect([after.epoch, logged]).toEqual([EPOCH, []]);
          } else {
            moved.add(`${from}>${after?.state}`);
            expect(after?.epoch).toBe(EPOCH + 1);
            expect(logged).toMatchObject([{ from, to: after?.state, epoch: EPOCH + 1 }]);
          }
        }
      }
      expect([...moved].sort()).toEqual([...declared].sort());
    },
  );
});

describe("on a long history", () => {
  interface Plan {
    readonly "Node Type": string;
    readonly "Relation Name"?: string;
    readonly "Index Name"?: string;
    readonly Plans?: readonly Plan[];
  }
  const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

  /** How the statement would be carried out: planned for these parameters, or `anyhow` for any. */
  async function stepsOf(statement: AnyStatement, params: readonly unknown[], anyhow: boolean): Promise<Plan[]> {
    await db.read(`set plan_cache_mode = ${anyhow ? "force_generic_plan" : "force_custom_plan"}`);
    return await planOn(db, statement, params);
  }

  async function planOn(on: Database, { sql }: AnyStatement, params: readonly unknown[]): Promise<Plan[]> {
    await on.read(`prepare contract as ${sql}`);
    const [row] = await on.read<{ "QUERY PLAN": readonly { readonly Plan: Plan }[] }>(
      `explain (format json) execute contract(${params.map(literal).join(", ")})`,
    );
    await on.read("deallocate contract");
    const plan = row?.["QUERY PLAN"][0]?.Plan;
    return plan === undefined ? [] : nodesOf(plan);
  }

  /** The tables that the statement would read from end to end. */
  const scannedBy = async (statement: AnyStatement, params: readonly unknown[], anyhow = false): Promise<string[]> =>
    (await stepsOf(statement, params, anyhow))
      .filter((node) => node["Node Type"] === "Seq Scan")
      .flatMap((node) => node["Relation Name"] ?? []);

  function literal(value: unknown): string {
    if (value === null || value === undefined) return "null";
    const text = Array.isArray(value)
      ? `{${value.map((one) => (one === null ? "null" : JSON.stringify(String(one instanceof Date ? one.toISOString() : one)))).join(",")}}`
      : String(value instanceof Date ? value.toISOString() : value);
    return `'${text.replaceAll("'", "''")}'`;
  }

  /** A run with many tasks, one of which has many instances. */
  async function fill(): Promise<{ readonly run: number; readonly id: string }> {
    const run = await seedRun(db, await seedDag(db, "dag"), "r");
    const id = await seedTask(db, run, "a", { state: "running" });
    await db.read(
      `insert into task_instance (id, task_id, map_index, dag_id, run_id, dag_run_id, run_after, state)
       select gen_random_uuid(), t.task_id, t.map_index, 'dag', 'r', $1, now(), 'success'
       from (select 't' || g as task_id, -1 as map_index from generate_series(1, 20000) g
         union all select 'mapped', g from generate_series(0, $2::int - 1) g) t`,
      [run, MAPPED],
    );
    await db.read(
      `insert into xcom (dag_run_id, task_id, map_index, key, dag_id, run_id, value)
       select dag_run_id, task_id, map_index, 'return_value', dag_id, run_id, '{"files": [1, 2]}' from task_instance`,
    );
    await db.read("analyze task_instance, xcom, dag_run");
    return { run, id };
  }

  test("no statement about an attempt reads all of task_instance", async () => {
    const { id } = await fill();
    const [version] = await db.read<{ id: string }>("select id from dag_version");
    const reading: string[] = [];
    for (const statement of named(Object.keys(TASK_CALLS))) {
      const params = (TASK_CALLS[statement.name]?.(id, "running", "success") ?? []).map((param) =>
        param === VERSION ? version?.id : param,
      );
      if ((await scannedBy(statement, params)).includes("task_instance")) reading.push(statement.name);
    }
    expect(reading).toEqual([]);
  });

  test("processes that keep their plans do not make them for a small table", async () => {
    const kept = openDatabase(database.url, { maxConnections: 1, maxRetries: 0, keepPlans: true });
    onTestFinished(() => kept.close());
    const id = await seedTask(db, await seedRun(db, await seedDag(db, "dag"), "r"), "a", { state: "running" });
    expect(await kept.read("show plan_cache_mode")).toEqual([{ plan_cache_mode: "force_generic_plan" }]);
    const reading: string[] = [];
    for (const statement of named(Object.keys(TASK_CALLS))) {
      const params = TASK_CALLS[statement.name]?.(id, "running", "success") ?? [];
      const steps = await planOn(
        kept,
        statement,
        params.map((param) => (param === VERSION ? newId() : param)),
      );
      if (steps.some((step) => step["Node Type"] === "Seq Scan" && step["Relation Name"] === "task_instance"))
        reading.push(statement.name);
    }
    expect(reading).toEqual([]);
  });

  // As when a long mapped task is expanded: what is counted is of before.
  test("no statement about some attempts reads all that are in their state, before Postgres has counted those", async () => {
    const { id, run } = await fill();
    for (const state of ["scheduled", "queued", "running", "deferred", null]) {
      await db.read(
        `insert into task_instance (id, task_id, map_index, dag_id, run_id, dag_run_id, run_after, state, pool, lane)
         select gen_random_uuid(), coalesce($2, 'none'), g, 'dag', 'r', $1, now(), $2, 'default_pool', 'a'
         from generate_series(0, 1999) g`,
        [run, state],
      );
    }
    const [version] = await db.read<{ id: string }>("select id from dag_version");
    const byState = /^idx_ti_(scheduled|occupying|deferred|unfinished)/;
    const reading: string[] = [];
    for (const statement of named(Object.keys(TASK_CALLS))) {
      const call = TASK_CALLS[statement.name];
      if (call === undefined || call.length === 0) continue; // It looks for what is in a state.
      const params = call(id, "running", "success").map((param) => (param === VERSION ? version?.id : param));
      for (const anyhow of [false, true]) {
        const steps = await stepsOf(statement, params, anyhow);
        if (steps.some((step) => byState.test(step["Index Name"] ?? ""))) reading.push(statement.name);
      }
    }
    const inOrder = named(["read-admission-in-order"]);
    for (const statement of inOrder)
      for (const anyhow of [false, true]) {
        const steps = await stepsOf(statement, [100, 10, 10], anyhow);
        if (steps.some((step) => step["Index Name"] === "idx_ti_scheduled")) reading.push(statement.name);
      }
    expect(inOrder).toHaveLength(1);
    expect(reading).toEqual([]);
  });

  test("no statement about a mapped task reads all of task_instance, or all values", async () => {
    const { run } = await fill();
    const asked = named(Object.keys(MAPPED_READS));
    expect(asked).toHaveLength(Object.keys(MAPPED_READS).length);
    const reading: string[] = [];
    for (const statement of asked) {
      const params = MAPPED_READS[statement.name]?.(run) ?? [];
      const scanned = [...(await scannedBy(statement, params)), ...(await scannedBy(statement, params, true))];
      if (scanned.includes("task_instance") || scanned.includes("xcom")) reading.push(statement.name);
      expect(await db.run(statement, params), `${statement.name} finds nothing`).not.toEqual([]);
    }
    expect(reading).toEqual([]);
  });
});

describe("from every state of a run", () => {
  test.each(named(Object.keys(RUN_CALLS)))(
    "$name moves along the edges it declares and no other",
    async (statement) => {
      const declared = runEdges(statement);
      const moved = new Set<string>();
      for (const from of RUN_STATES) {
        for (const to of new Set(declared.map(target) as RunState[])) {
          await database.reset();
          const id = await seedRun(db, await seedDag(db, "dag"), "r", { state: from });
          await db.read("insert into backfill (id, dag_id, from_date, to_date) values ($1, 'dag', now(), now())", [
            BACKFILL,
          ]);
          await db.read("update dag_run set backfill_id = $1", [BACKFILL]);
          await db.run(statement, RUN_CALLS[statement.name]?.(id, to) ?? []);
          const [after] = await db.read<{ state: string }>("select state from dag_run");
          const logged = await db.read(`select from_state as "from", to_state as "to" from dag_run_transition`);
          if (after?.state !== from) moved.add(`${from}>${after?.state}`);
          expect(logged).toEqual(after?.state === from ? [] : [{ from, to: after?.state }]);
        }
      }
      expect([...moved].sort()).toEqual([...declared].sort());
    },
  );
});
