import { newId, replanDags, type Database } from "@millrace/shared/db";
import { pointerFor } from "@millrace/shared/model";
import { testDatabase } from "@millrace/testkit";
import { dagSpec, taskSpec } from "@millrace/testkit/specs";
import { beforeEach, describe, expect, test } from "vitest";
import type { DagSpec, TaskSpec } from "@millrace/sdk/spec";
import { openTestDatabase, readDags, readImportErrors, testConfig } from "../fixtures/records.ts";
import { recordFiles } from "./record-failure.ts";
import { recordParsed, type ParsedFile } from "./record-parsed.ts";

const database = await testDatabase();
const db: Database = openTestDatabase(database);
beforeEach(() => database.reset());

const HOURLY = { kind: "cron", cron: "0 * * * *", timezone: "UTC", dst: { gap: "shift", fold: "first" } } as const;

const task = (taskId: string, more: Partial<TaskSpec> = {}): TaskSpec =>
  taskSpec(taskId, { owner: "airflow", ...more });

const dag = (dagId: string, more: Partial<DagSpec> = {}): DagSpec =>
  dagSpec([task("t")], { dagId, owners: ["airflow"], ...more });

const parsed = (specs: readonly DagSpec[], more: { file?: string; code?: string } = {}): ParsedFile => {
  const { file = "a.ts", code = "// code" } = more;
  const bundle = {
    code,
    sourceMap: "{}",
    hash: Buffer.from(code).toString("hex"),
    inputs: [],
    source: code,
    warnings: [],
  };
  return {
    file,
    fileloc: `/dags/${file}`,
    bundle,
    dags: specs.map((spec) => ({ dagId: spec.dagId, spec })),
    durationMs: 12,
  };
};

const record = (specs: readonly DagSpec[], more: { file?: string; code?: string } = {}, config = testConfig()) =>
  recordParsed(db, parsed(specs, more), config);

describe("versions", () => {
  test("a new DAG is version 1, with its artifact, spec, source and tags", async () => {
    const result = await record([dag("a", { tags: ["etl", "daily"], description: "An a.", maxActiveRuns: 3 })]);
    expect(result).toMatchObject({ kind: "recorded", changed: true, versions: [{ dagId: "a", versionNumber: 1 }] });
    const [row] = await db.read(`
select s.data->>'dagId' as spec, length(s.dag_hash) as hash, c.source_code, c.fileloc, x.code, d.max_active_runs, d.max_active_tasks,
  d.timetable_summary, d.relative_fileloc, array(select name::text from dag_tag t where t.dag_id = d.dag_id order by 1) as tags
from dag d join dag_version v using (dag_id) join serialized_dag s on s.dag_version_id = v.id
join dag_code c on c.dag_version_id = v.id join dag_artifact x on x.hash = v.artifact_hash`);
    expect(row).toEqual({
      spec: "a",
      hash: 64,
      source_code: "// code",
      fileloc: "/dags/a.ts",
      code: "// code",
      max_active_runs: 3,
      max_active_tasks: 16,
      timetable_summary: "None",
      relative_fileloc: "a.ts",
      tags: ["daily", "etl"],
    });
  });

  test("other code or another spec is the next version; neither is none", async () => {
    await record([dag("a")]);
    expect(await record([dag("a")])).toMatchObject({ changed: false, versions: [] });
    expect(await record([dag("a")], { code: "// other" })).toMatchObject({ versions: [{ versionNumber: 2 }] });
    expect(await record([dag("a", { tags: ["new"] })], { code: "// other" })).toMatchObject({
      versions: [{ versionNumber: 3 }],
    });
    expect((await readDags(db))["a"]?.versions).toEqual([1, 2, 3]);
  });

  test("the same file recorded by several at once is one version", async () => {
    const results = await Promise.all([1, 2, 3].map(() => record([dag("a"), dag("b")])));
    expect(results.every((result) => result.kind === "recorded")).toBe(true);
    expect(await readDags(db)).toMatchObject({ a: { versions: [1] }, b: { versions: [1] } });
  });

  test("a DAG that its file no longer declares is stale, and comes back as the version it was", async () => {
    await record([dag("a"), dag("b")]);
    expect(await record([dag("a")])).toMatchObject({ changed: true, stale: ["b"] });
    expect(await readDags(db)).toMatchObject({ b: { isStale: true } });
    await record([dag("a"), dag("b")]);
    expect(await readDags(db)).toMatchObject({ b: { isStale: false, versions: [1] } });
    expect(await recordFiles(db, ["other.ts"])).toEqual(expect.arrayContaining(["a", "b"]));
  });
});

describe("a new DAG's pause", () => {
  test("is the file's word, else the configuration's, and later nobody's but the user's", async () => {
    const config = testConfig({ "core.unpaused_at_creation": "listed" });
    await record([dag("said", { isPausedUponCreation: false }), dag("listed"), dag("plain")], {}, config);
    expect(await readDags(db)).toMatchObject({
      said: { isPaused: false },
      listed: { isPaused: false },
      plain: { isPaused: true },
    });
    await record([dag("said", { isPausedUponCreation: true })], { code: "// other" }, config);
    expect(await readDags(db)).toMatchObject({ said: { isPaused: false } });
  });
});

describe("errors", () => {
  test("of one DAG are the file's: nothing of it is recorded, and what was stays", async () => {
    await record([dag("a")]);
    const broken = dag("b", { schedule: { ...HOURLY, cron: "0 25 * * *" } });
    expect(await record([dag("a", { tags: ["x"] }), broken], { code: "// broken" })).toMatchObject({
      kind: "refused",
      changed: true,
    });
    expect(await readDags(db)).toMatchObject({ a: { versions: [1], hasImportErrors: true } });
    expect((await readImportErrors(db))["a.ts"]).toMatch(/^DAG "b": "0 25 \* \* \*" is not a schedule/);
    await record([dag("a")]);
    expect(await readDags(db)).toMatchObject({ a: { versions: [1], hasImportErrors: false } });
    expect(await readImportErrors(db)).toEqual({});
  });

  test("a DAG of another file is left to that file", async () => {
    await record([dag("a")]);
    await record([dag("a"), dag("c")], { file: "z.ts" });
    expect(await readImportErrors(db)).toEqual({
      "z.ts": expect.stringContaining(`DAG "a" is declared in a.ts already`),
    });
    expect(Object.keys(await readDags(db))).toEqual(["a"]);
  });

  test("two files that bring the same new DAG at once: one has it, the other an error", async () => {
    const results = await Promise.all(["x.ts", "y.ts"].map((file) => record([dag("a")], { file, code: file })));
    expect(results.map((result) => result.kind).sort()).toEqual(["recorded", "refused"]);
    expect(await readDags(db)).toMatchObject({ a: { versions: [1] } });
  });

  test("a value that Postgres cannot store is an error of the file", async () => {
    expect(await record([dag("a", { description: "zero \0 byte" })])).toMatchObject({ kind: "refused" });
    expect((await readImportErrors(db))["a.ts"]).toMatch(/cannot be stored/);
  });
});

describe("warnings", () => {
  test("name tasks that could never run, and go when the pool is right", async () => {
    await record([dag("a", { tasks: [task("big", { poolSlots: 200 }), task("lost", { pool: "nowhere" })] })]);
    const warnings = () => db.read("select warning_type, message from dag_warning order by 1");
    expect(await warnings()).toEqual([
      {
        warning_type: "non-existent pool",
        message: expect.stringContaining("pool nowhere does not exist (task lost)"),
      },
      {
        warning_type: "pool too small",
        message: expect.stringContaining("task big needs 200 slots of pool default_pool, which has 128"),
      },
    ]);
    await db.read("insert into slot_pool (pool, slots) values ('nowhere', 1)");
    await record([dag("a", { tasks: [task("big"), task("lost", { pool: "nowhere" })] })], { code: "// fixed" });
    expect(await warnings()).toEqual([]);
  });
});

test("a catchup with a long way to go has a warning with the number of its runs, and creates none by that", async () => {
  const far = { schedule: HOURLY, startDate: new Date(Date.now() - 500 * 3_600_000).toISOString(), catchup: true };
  const near = { ...far, startDate: new Date(Date.now() - 50 * 3_600_000).toISOString() };
  await record([dag("far", far), dag("near", near), dag("latest", { ...far, catchup: false })]);
  expect(await db.read("select dag_id, warning_type, message from dag_warning")).toEqual([
    {
      dag_id: "far",
      warning_type: "far catchup",
      message: expect.stringMatching(/^catchup: true has (499|500) runs to create/),
    },
  ]);
  expect(await db.read("select from dag_run")).toEqual([]);
});

describe("the pointer", () => {
  const start = "2024-01-01T00:00:00.000Z";

  test("is the first interval under catchup, later the one after the newest run of the schedule, which a backfill further on does not skip", async () => {
    const spec = dag("a", { schedule: HOURLY, startDate: start, catchup: true });
    await record([spec]);
    expect((await readDags(db))["a"]).toMatchObject({
      nextDagrun: new Date(start),
      createAfter: new Date("2024-01-01T01:00:00Z"),
    });

    const run = (type: string, hour: string) =>
      db.read(
        `insert into dag_run (dag_id, run_id, run_type, logical_date, data_interval_start, data_interval_end, run_after)
         values ('a', $1, $2, $3::timestamptz, $3::timestamptz, $3::timestamptz + interval '1 hour', now())`,
        [newId(), type, `2024-01-01T${hour}:00:00Z`],
      );
    await run("scheduled", "03");
    await run("backfill", "05");
    await run("manual", "09");
    await record([spec], { code: "// again" });
    expect((await readDags(db))["a"]?.nextDagrun).toEqual(new Date("2024-01-01T04:00:00Z"));
    // It was the schedule's, and a backfill ran it again.
    await db.read("update dag_run set run_id = 'scheduled__5' where run_type = 'backfill'");
    await record([spec], { code: "// and again" });
    expect((await readDags(db))["a"]?.nextDagrun).toEqual(new Date("2024-01-01T06:00:00Z"));
  });

  test("is none for a DAG without a schedule and after the last date", async () => {
    await record([dag("manual"), dag("over", { schedule: HOURLY, startDate: start, endDate: start })]);
    expect(await readDags(db)).toMatchObject({ manual: { nextDagrun: null }, over: { nextDagrun: null } });
  });

  test("is planned anew from the present for an unpause", async () => {
    await record([dag("a", { schedule: HOURLY, startDate: start })]);
    await db.read("update dag set next_dagrun = '2024-02-01', next_dagrun_create_after = '2024-02-01 01:00'");
    await db.transaction((tx) => replanDags(tx, ["a"]));
    const age = Date.now() - ((await readDags(db))["a"]?.createAfter?.getTime() ?? 0);
    expect(age).toBeGreaterThanOrEqual(0);
    expect(age).toBeLessThan(3_700_000);
  });

  test("starts with the earliest date of the DAG and its tasks; the tasks' ends count when all have one", () => {
    const dated = dag("a", {
      schedule: HOURLY,
      catchup: true,
      startDate: "2024-01-02T00:00:00.000Z",
      endDate: "2024-01-03T00:00:00.000Z",
      tasks: [
        task("x", { startDate: start, endDate: "2024-01-05T00:00:00.000Z" }),
        task("y", { endDate: "2024-01-04T00:00:00.000Z" }),
      ],
    });
    const from = (day: string) => ({ start: Date.parse(day) - 3_600_000, end: Date.parse(day) });
    expect(pointerFor(dated, undefined, Date.now())?.logicalDate).toBe(Date.parse(start));
    expect(pointerFor(dated, from("2024-01-05T00:00:00Z"), Date.now())?.logicalDate).toBe(
      Date.parse("2024-01-05T00:00:00Z"),
    );
    expect(pointerFor(dated, from("2024-01-05T01:00:00Z"), Date.now())).toBeUndefined();
  });
});
