// Schedules that are code of a DAG's file: asked in the processor's child, stored, and consumed by schedulers.
import {
  backfillsToPlan,
  cancelBackfill,
  createBackfill,
  DagVersions,
  fillBackfill,
  getBackfill,
  previewBackfill,
  setPaused,
  triggerRun,
  type Queryable,
} from "@millrace/shared/db";
import { testDatabase } from "@millrace/testkit";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { closeBackfills } from "../../runs/backfill-filler.ts";
import { createDueRuns } from "../../runs/create-due-runs.ts";
import { DagProcessor } from "../dag-processor.ts";
import { testDagFolder, type TestDagFolder } from "../fixtures/dag-folder.ts";
import { openTestDatabase, readDags, readImportErrors, silent, testConfig } from "../fixtures/records.ts";

const database = await testDatabase();
const db = openTestDatabase(database);
beforeEach(() => database.reset());

function processorOf(folder: TestDagFolder, overrides: Readonly<Record<string, unknown>> = {}): DagProcessor {
  const config = testConfig({
    "core.dags_folder": folder.path,
    "core.dags_are_paused_at_creation": false,
    ...overrides,
  });
  const processor = new DagProcessor({ db, config, log: silent });
  onTestFinished(() => processor.stop());
  return processor;
}

/** Runs of three hours, the next one at the end of the last. */
const THREE_HOURS = `class ThreeHours {
  summary = "every three hours";
  next({ last, earliest, now, catchup }) {
    const LENGTH = 3 * 3_600_000;
    let start = last?.end ?? earliest ?? now;
    while (catchup === false && start.getTime() + 2 * LENGTH <= now.getTime()) start = new Date(start.getTime() + LENGTH);
    return { start, end: new Date(start.getTime() + LENGTH) };
  }
  infer(at) {
    return { start: new Date(at.getTime() - 60_000), end: at };
  }
}`;
const file = (...dags: readonly string[]): string =>
  [
    `import { Dag, defineTimetable } from "@millrace/sdk";`,
    ...dags,
    `for (const dag of dags) dag.task("t", () => 1)();`,
    "",
  ].join("\n");
const FROM = "2026-01-01T00:00:00.000Z";
const catchingUp = (startDate = FROM): string =>
  file(
    THREE_HOURS,
    `const dags = [new Dag("three", { schedule: new ThreeHours(), startDate: new Date("${startDate}"), catchup: true, maxActiveRuns: 500 })];`,
  );

const planOf = async (dagId: string) =>
  (
    await db.read<{ runs: { logicalDate: number }[]; ended: boolean; generation: number }>(
      "select runs, ended, generation from timetable_plan where dag_id = $1",
      [dagId],
    )
  )[0];
const warnings = async () =>
  await db.read<{ dag_id: string; warning_type: string; message: string }>(
    "select dag_id, warning_type, message from dag_warning order by dag_id, warning_type",
  );
const create = async () =>
  await db.transaction(
    async (tx: Queryable) =>
      await createDueRuns({ tx, versions: new DagVersions(db), config: testConfig(), log: silent }),
  );
const starts = async () =>
  (await db.read<{ at: Date }>("select logical_date as at from dag_run where run_type = 'scheduled' order by 1")).map(
    (run) => run.at.getTime(),
  );

describe("a timetable of a DAG's file", () => {
  test("is asked ahead; its answers become runs, each once, and it is asked again when few are left", async () => {
    const folder = await testDagFolder({ "a.ts": catchingUp() });
    const processor = processorOf(folder);
    await processor.processOnce();
    expect(await readDags(db)).toMatchObject({
      three: { nextDagrun: new Date(FROM), createAfter: new Date("2026-01-01T03:00Z") },
    });
    expect((await planOf("three"))?.runs).toHaveLength(100);
    expect((await create()).created).toBe(50);
    expect((await create()).created).toBe(50);
    // What it had planned is used up; without its code there is nothing more to create.
    expect((await readDags(db))["three"]?.nextDagrun).toBeNull();
    expect((await create()).created).toBe(0);
    await processor.processOnce();
    expect((await create()).created).toBe(50);
    await processor.processOnce();
    expect((await planOf("three"))?.runs).toHaveLength(50);
    await db.read("update timetable_plan set runs = runs - 49");
    await processor.processOnce();
    expect((await planOf("three"))?.runs).toHaveLength(149);
    const created = await starts();
    expect(created).toEqual(Array.from({ length: 150 }, (_, i) => Date.parse(FROM) + i * 3 * 3_600_000));
  });

  test("two schedulers create each of its runs once", async () => {
    const folder = await testDagFolder({ "a.ts": catchingUp() });
    await processorOf(folder).processOnce();
    await Promise.all([create(), create(), create()]);
    await create();
    const created = await starts();
    expect(new Set(created).size).toBe(created.length);
    expect(created).toHaveLength(100);
  });

  test("that changes goes on from what was due, which stays as it was planned", async () => {
    const soon = new Date(Date.now() - 4 * 3_600_000).toISOString();
    const folder = await testDagFolder({ "a.ts": catchingUp(soon) });
    const processor = processorOf(folder);
    await processor.processOnce();
    await folder.write("a.ts", catchingUp(soon).replace("3 * 3_600_000", "2 * 3_600_000"));
    await processor.processOnce();
    const length = (run: { interval: { start: number; end: number } }) =>
      (run.interval.end - run.interval.start) / 3_600_000;
    const { runs = [] } = (await planOf("three")) ?? {};
    expect(runs.slice(0, 3).map((run) => length(run as never))).toEqual([3, 2, 2]);
    await folder.write("a.ts", file(`const dags = [new Dag("three", { schedule: null })];`));
    await processor.processOnce();
    expect(await planOf("three")).toBeUndefined();
    expect((await readDags(db))["three"]?.nextDagrun).toBeNull();
  });

  test("says what a manual run stands for, and shows its name and summary", async () => {
    const folder = await testDagFolder({ "a.ts": catchingUp(new Date(Date.now() - 3_600_000).toISOString()) });
    await processorOf(folder).processOnce();
    await triggerRun(db, new DagVersions(db), { dagId: "three", triggeredBy: "cli", user: null });
    expect(
      await db.read("select extract(epoch from data_interval_end - data_interval_start)::int as seconds from dag_run"),
    ).toEqual([{ seconds: 60 }]);
    expect(await db.read("select timetable_type, timetable_summary from dag")).toEqual([
      { timetable_type: "ThreeHours", timetable_summary: "every three hours" },
    ]);
  });

  test("after a pause goes on with the latest run that is over", async () => {
    const folder = await testDagFolder({ "a.ts": catchingUp().replace("catchup: true", "catchup: false") });
    const processor = processorOf(folder);
    await processor.processOnce();
    await setPaused(db, "three", true, "ada");
    await db.read(
      "update timetable_plan set runs = (select jsonb_agg(r order by i) from jsonb_array_elements(runs) with ordinality as a(r, i) where i <= 1)",
    );
    await setPaused(db, "three", false, "ada");
    await processor.processOnce();
    const { createAfter = null } = (await readDags(db))["three"] ?? {};
    const age = Date.now() - (createAfter?.getTime() ?? 0);
    expect(age).toBeGreaterThanOrEqual(0);
    expect(age).toBeLessThan(3 * 3_600_000);
  });
});

describe("a timetable that fails", () => {
  const broken = (body: string): string =>
    file(
      `const dags = [`,
      `  new Dag("bad", { schedule: defineTimetable({ name: "mine", next(): never {`,
      `    ${body}`,
      `  } }) }),`,
      `  new Dag("good", { schedule: "@hourly" }),`,
      `];`,
    );

  test.each([
    ["throws", `throw new Error("no calendar");`, /no calendar\n\s+at .*a\.ts:4:11/],
    ["does not return", `for (;;);`, /longer than 4 s and was stopped. Is there a loop/],
    ["ends the process", `process.exit(3);`, /process\.exit\(3\)/],
    [
      "answers nonsense",
      `return { start: "today" } as never;`,
      /next\(\) returned a start that is not a valid Date but "today"/,
    ],
    [
      "goes back",
      `return { start: new Date(0), end: new Date(-1) } as never;`,
      /an end, 1969-12-31.* that lies before/,
    ],
    ["does not go on", `return { start: new Date(0), end: new Date(1) } as never;`, /next\(\) must go on/],
  ])(
    "because it %s has a warning and no further runs, and no other DAG of its file is harmed",
    async (_, body, message) => {
      const folder = await testDagFolder({ "a.ts": broken(body) });
      const processor = processorOf(folder, { "dag_processor.dag_file_processor_timeout": 4 });
      await processor.processOnce();
      expect(await readImportErrors(db)).toEqual({});
      expect(await warnings()).toEqual([
        { dag_id: "bad", warning_type: "timetable error", message: expect.stringMatching(message) },
      ]);
      const dags = await readDags(db);
      expect(dags["good"]?.nextDagrun).not.toBeNull();
      expect((await create()).created).toBeGreaterThan(0);
      // It is not asked again and again.
      const { generation } = (await planOf("bad")) ?? {};
      await processor.processOnce();
      expect((await planOf("bad"))?.generation).toBe(generation);
      await folder.write(
        "a.ts",
        broken(`return { start: new Date(), end: new Date() } as never;`)
          .replace("next()", "next({ last })")
          .replace("return {", "if (last && last.start.getTime() > 9) return null as never; return {"),
      );
      await processor.processOnce();
      expect(await warnings()).toEqual([]);
      expect((await readDags(db))["bad"]?.nextDagrun).not.toBeNull();
    },
  );
});

describe("a backfill over a timetable of a DAG's file", () => {
  const request = {
    dagId: "three",
    from: new Date("2026-01-02T00:00Z"),
    to: new Date("2026-01-02T12:00Z"),
    user: "ada",
  };
  const fill = async () =>
    await db.transaction(async (tx) => await fillBackfill(tx, new DagVersions(db), [], () => undefined));
  const dates = async () =>
    (await db.read<{ at: Date }>("select logical_date as at from dag_run where run_type = 'backfill' order by id")).map(
      ({ at }) => at.toISOString().slice(11, 16),
    );

  test("gets its dates from the processor, and goes on as any other", async () => {
    const folder = await testDagFolder({ "a.ts": catchingUp() });
    const processor = processorOf(folder);
    await processor.processOnce();
    const id = await createBackfill(db, new DagVersions(db), { ...request, runBackwards: true });
    expect(await getBackfill(db, id)).toMatchObject({ isPlanned: false, planError: null, total: 0, completedAt: null });
    // Without dates there is nothing to do, and it is not over.
    expect(await fill()).toBeUndefined();
    await closeBackfills({ db, log: silent });
    await processor.processOnce();
    expect(await getBackfill(db, id)).toMatchObject({ isPlanned: true, total: 5, pending: 5, completedAt: null });
    expect(await fill()).toMatchObject({ runs: 5 });
    expect(await dates()).toEqual(["12:00", "09:00", "06:00", "03:00", "00:00"]);
  });

  test("is asked once by many processors, and not at all once it is cancelled", async () => {
    const folder = await testDagFolder({ "a.ts": catchingUp() });
    await processorOf(folder).processOnce();
    const id = await createBackfill(db, new DagVersions(db), request);
    await Promise.all([1, 2, 3].map(() => processorOf(folder).processOnce()));
    expect(await getBackfill(db, id)).toMatchObject({ isPlanned: true, total: 5 });
    await cancelBackfill(db, id, "ada");
    const second = await createBackfill(db, new DagVersions(db), request);
    await cancelBackfill(db, second, "ada");
    expect(await db.run(backfillsToPlan, [])).toEqual([]);
    await processorOf(folder).processOnce();
    expect(await getBackfill(db, second)).toMatchObject({ isPlanned: false, total: 0 });
  });

  test("asks for no date that is still to come, and says so when none is left", async () => {
    const now = Date.now();
    const folder = await testDagFolder({ "a.ts": catchingUp(new Date(now - 4 * 3_600_000).toISOString()) });
    const processor = processorOf(folder);
    await processor.processOnce();
    const from = new Date(now - 4 * 3_600_000);
    const some = await createBackfill(db, new DagVersions(db), { ...request, from, to: new Date(now + 86_400_000) });
    await processor.processOnce();
    expect(await getBackfill(db, some)).toMatchObject({ total: 1 });
    await cancelBackfill(db, some, "ada");
    const none = await createBackfill(db, new DagVersions(db), {
      ...request,
      from: new Date(now - 3_600_000),
      to: new Date(now + 86_400_000),
    });
    await processor.processOnce();
    const { planError, completedAt } = await getBackfill(db, none);
    expect(planError).toMatch(/The schedule of three has no date from .* whose interval is over/);
    expect(completedAt).not.toBeNull();
  });

  test("ends with the reason when the timetable fails, and the next one can be made", async () => {
    const folder = await testDagFolder({
      "a.ts": catchingUp()
        .replace("next({", "next({ latest, ")
        .replace("const LENGTH", 'if (latest) throw new Error("no calendar"); const LENGTH'),
    });
    const processor = processorOf(folder);
    await processor.processOnce();
    expect(await warnings()).toEqual([]);
    const id = await createBackfill(db, new DagVersions(db), request);
    await processor.processOnce();
    const { planError, completedAt } = await getBackfill(db, id);
    expect(planError).toMatch(/Its timetable failed.*\nError: no calendar\n\s+at .*a\.ts:\d+/);
    expect(completedAt).not.toBeNull();
    expect((await readDags(db))["three"]?.nextDagrun).not.toBeNull();
    await createBackfill(db, new DagVersions(db), request);
  });

  test("cannot be tried without a processor", async () => {
    await processorOf(await testDagFolder({ "a.ts": catchingUp() })).processOnce();
    await expect(previewBackfill(db, new DagVersions(db), request)).rejects.toMatchObject({
      code: "BACKFILL_NOT_FORESEEN",
      message: expect.stringContaining("every three hours"),
    });
  });
});
