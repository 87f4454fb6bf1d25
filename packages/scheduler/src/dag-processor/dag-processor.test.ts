import { createLogger } from "@millrace/shared/observability";
import { readConnection, Secrets } from "@millrace/shared/secrets";
import { testDatabase, waitUntil } from "@millrace/testkit";
import { utimes } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { DagProcessor } from "./dag-processor.ts";
import { dagFile, testDagFolder, type TestDagFolder } from "./fixtures/dag-folder.ts";
import { openTestDatabase, readDags, readImportErrors, silent, testConfig } from "./fixtures/records.ts";

const database = await testDatabase();
const db = openTestDatabase(database);
beforeEach(() => database.reset());

function processorOf(folder: TestDagFolder, overrides: Readonly<Record<string, unknown>> = {}) {
  const wakes: unknown[] = [];
  const broker = { wake: (more: readonly unknown[]) => void wakes.push(...more) };
  const config = testConfig({ "core.dags_folder": folder.path, ...overrides });
  const processor = new DagProcessor({ db, broker, config, log: silent });
  onTestFinished(() => processor.stop());
  return { processor, wakes };
}

describe("one pass over a folder", () => {
  test("records every DAG, whatever the other files do, and names the user's line where one fails", async () => {
    const folder = await testDagFolder({
      "good.ts": dagFile("good", `{ schedule: "@daily", tags: ["x"] }`),
      "lib/shared.ts": `export const shared = 1;`,
      "lib/good.test.ts": `throw new Error("a test is no DAG file");`,
      "ignored/bad.ts": "throw 1;",
      ".millraceignore": "# not mine\nignored/\n",
      "bad/throws.ts": `import { Dag } from "@millrace/sdk";\n\nthrow new Error("top level");\n`,
      "bad/loops.ts": `for (;;);`,
      "bad/exits.ts": `process.exit(1);`,
      "bad/syntax.ts": `const = 1;`,
      "bad/cycle.ts": `import { Dag } from "@millrace/sdk";
const dag = new Dag("cycle");
const a = dag.task("a", () => 1)();
const b = dag.task("b", () => 1)();
a.before(b);
b.before(a);`,
      "bad/uncalled.ts": `import { Dag } from "@millrace/sdk";\nnew Dag("uncalled").task("never", () => 1);`,
      "bad/option.ts": `import { Dag } from "@millrace/sdk";\nnew Dag("option", { shedule: "@daily" } as object);`,
      "bad/cron.ts": dagFile("cron", `{ schedule: "61 * * * *" }`),
      "bad/feb.ts": dagFile("feb", `{ schedule: "0 0 31 2 *" }`),
      "bad/param.ts": dagFile("param", `{ schedule: "@daily", params: { city: { schema: { type: "string" } } } }`),
    });
    // The loop is stopped after this; everything else takes a fraction of it, on a busy machine too.
    const { processor, wakes } = processorOf(folder, { "dag_processor.dag_file_processor_timeout": 4 });
    const { files, read } = await processor.processOnce();

    expect(files).toBe(12);
    expect(await readDags(db)).toMatchObject({ good: { versions: [1], isPaused: true, hasImportErrors: false } });
    expect(Object.keys(await readDags(db))).toEqual(["good"]);
    expect(read.get("lib/shared.ts")).toMatchObject({ kind: "recorded", dagIds: [] });
    expect(wakes).toContainEqual({ dagRunId: null, taskIds: null });
    const errors = await readImportErrors(db);
    expect(errors["bad/throws.ts"]).toBe("Error: top level\n    at bad/throws.ts:3:7");
    expect(errors["bad/loops.ts"]).toMatch(/longer than 4 s/);
    expect(errors["bad/exits.ts"]).toMatch(/process\.exit\(1\)[^]*bad\/exits\.ts:1:9/);
    expect(errors["bad/syntax.ts"]).toMatch(/^bad\/syntax\.ts:1:7: /);
    expect(errors["bad/cycle.ts"]).toMatch(/^bad\/cycle\.ts:6:3: DAG "cycle": .*a → b → a/);
    expect(errors["bad/uncalled.ts"]).toMatch(/^bad\/uncalled\.ts:2:\d+: .*"never"/);
    expect(errors["bad/option.ts"]).toMatch(/^bad\/option\.ts:2:1: .*did you mean "schedule"/);
    expect(errors["bad/cron.ts"]).toMatch(/DAG "cron": "61 \* \* \* \*" is not a schedule/);
    expect(errors["bad/feb.ts"]).toMatch(/DAG "feb": .*no date matches it/);
    expect(errors["bad/param.ts"]).toMatch(/param.*city/);
    expect(Object.keys(errors)).toHaveLength(10);
  });

  test("a file that declares a DAG of another file is in error, and gets it once the other lets go", async () => {
    const folder = await testDagFolder({ "first.ts": dagFile("same") });
    const { processor } = processorOf(folder);
    await processor.processOnce();
    await folder.write("second.ts", dagFile("same", "{}", ["other"]));
    await processor.processOnce();
    expect(await readImportErrors(db)).toEqual({
      "second.ts": expect.stringMatching(/DAG "same" is declared in first\.ts/),
    });
    expect(await readDags(db)).toMatchObject({ same: { versions: [1], hasImportErrors: false } });

    await folder.remove("first.ts");
    expect((await processor.processOnce()).stale).toEqual(["same"]);
    expect(await readImportErrors(db)).toEqual({});
    expect(await readDags(db)).toMatchObject({ same: { versions: [1, 2], isStale: false } });
  });

  test("a new processor writes nothing about files that are as they were but when they were read", async () => {
    const folder = await testDagFolder({ "a.ts": dagFile("a", `{ schedule: "@daily" }`) });
    await processorOf(folder).processor.processOnce();
    const rows = () =>
      db
        .read("select xmin, d.* from dag d union all select xmin, d.* from dag d where false")
        .then(([row]) => row as object);
    const before = await rows();
    const { processor, wakes } = processorOf(folder);
    const { read } = await processor.processOnce();
    expect(read.get("a.ts")).toMatchObject({ kind: "recorded", changed: false, versions: [] });
    expect(wakes).toEqual([]);
    expect(await rows()).toEqual({
      ...before,
      xmin: expect.anything(),
      last_parsed_time: expect.any(Date),
      last_parse_duration: expect.any(Number),
    });
  });

  test("says what to do when there is no DAG folder", async () => {
    const folder = await testDagFolder();
    const { processor } = processorOf(folder, { "core.dags_folder": join(folder.path, "none") });
    await expect(processor.start()).rejects.toThrow(/core\.dags_folder is .*none: there is no folder.*Create it/);
  });
});

describe("the service", () => {
  const versionsOf = async (dagId: string) => (await readDags(db))[dagId]?.versions.length ?? 0;
  const until = (what: string, probe: () => Promise<boolean>) => waitUntil(probe, { what, timeoutMs: 25_000 });

  test("makes a version of every change of a file and of what it imports, without waiting for the next listing", async () => {
    const folder = await testDagFolder({
      "a.ts": `import { Dag } from "@millrace/sdk";\nimport { id } from "./lib/id.ts";\nnew Dag(id);`,
      "lib/id.ts": `export const id = "a";`,
      "other.ts": dagFile("other"),
    });
    const { processor } = processorOf(folder);
    await processor.start();
    await until("both DAGs are there", async () => (await versionsOf("a")) === 1 && (await versionsOf("other")) === 1);

    const took = async (
      what: string,
      change: () => Promise<unknown>,
      probe: () => Promise<boolean>,
    ): Promise<number> => {
      const from = performance.now();
      await change();
      await until(what, probe);
      return performance.now() - from;
    };
    const file = await took(
      "the change of the file is version 2",
      () =>
        folder.write(
          "a.ts",
          `import { Dag } from "@millrace/sdk";\nimport { id } from "./lib/id.ts";\nnew Dag(id, { tags: ["new"] });`,
        ),
      async () => (await versionsOf("a")) === 2,
    );
    const imported = await took(
      "the change of the import is version 3",
      () => folder.write("lib/id.ts", `export const id = ["a"].join("");`),
      async () => (await versionsOf("a")) === 3,
    );
    const added = await took(
      "a file in a new folder is read",
      () => folder.write("deep/er/new.ts", dagFile("new")),
      async () => (await versionsOf("new")) === 1,
    );
    // Tenths of a second on a machine that has time; the folder is listed every 30 s.
    expect(Math.max(file, imported, added)).toBeLessThan(15_000);
    expect(await versionsOf("other")).toBe(1);
  });

  test("a file that breaks keeps its DAG's version until it is mended, one that goes makes it stale, and back", async () => {
    const folder = await testDagFolder({ "a.ts": dagFile("a"), "b.ts": dagFile("b") });
    const { processor } = processorOf(folder);
    await processor.start();
    await until("both DAGs are there", async () => (await versionsOf("a")) === 1 && (await versionsOf("b")) === 1);

    await folder.write("a.ts", `${dagFile("a")}\nconst half =`);
    await until("the error is there", async () => (await readDags(db))["a"]?.hasImportErrors === true);
    expect(await readImportErrors(db)).toEqual({ "a.ts": expect.stringMatching(/^a\.ts:5:\d+: /) });
    expect(await readDags(db)).toMatchObject({ a: { versions: [1] }, b: { hasImportErrors: false } });

    await folder.write("a.ts", dagFile("a"));
    await until("the error is gone", async () => (await readDags(db))["a"]?.hasImportErrors === false);
    expect(await readImportErrors(db)).toEqual({});

    await folder.remove("a.ts");
    await until("the DAG is stale", async () => (await readDags(db))["a"]?.isStale === true);
    await folder.write("a.ts", dagFile("a"));
    await until("the DAG is back", async () => (await readDags(db))["a"]?.isStale === false);
    expect(await readDags(db)).toMatchObject({ a: { versions: [1] }, b: { versions: [1], isStale: false } });
  });

  test("a file that hangs holds up no other, and an import that was missing mends its file", async () => {
    const folder = await testDagFolder({
      "a-hangs.ts": `import { Dag } from "@millrace/sdk";\nfor (;;);`,
      "b.ts": `import { id } from "./late.ts";\nimport { Dag } from "@millrace/sdk";\nnew Dag(id);`,
    });
    const { processor } = processorOf(folder);
    await processor.start();
    await until("the missing import is an error", async () => (await readImportErrors(db))["b.ts"] !== undefined);
    await folder.write("late.ts", `export const id = "late";`);
    await until("the DAG is there", async () => (await versionsOf("late")) === 1);
    expect(await readImportErrors(db)).toEqual({});
  });

  test("a touched file without a change is no new version", async () => {
    const folder = await testDagFolder({ "a.ts": dagFile("a") });
    const { processor } = processorOf(folder);
    await processor.processOnce();
    await utimes(join(folder.path, "a.ts"), new Date(), new Date(Date.now() - 60_000));
    expect((await processor.processOnce()).read.get("a.ts")).toMatchObject({ kind: "recorded", changed: false });
  });

  test("is seen as a job from start to stop", async () => {
    const { processor } = processorOf(await testDagFolder());
    const jobs = () =>
      db.read("select state, end_date is not null as ended from job where job_type = 'DagProcessorJob'");
    await processor.start();
    expect(await jobs()).toEqual([{ state: "running", ended: false }]);
    await processor.stop();
    expect(await jobs()).toEqual([{ state: "success", ended: true }]);
  });
});

test("an error of a file is recorded and logged without the secrets that are stored", async () => {
  const folder = await testDagFolder({ "leaks.ts": `throw new Error("cannot log in with s3cr3t-of-the-dwh");` });
  const key = "a key of thirty-two characters or more";
  const lines: string[] = [];
  const log = createLogger({ level: "info", name: "test", destination: { write: (line) => void lines.push(line) } });
  const config = testConfig({ "core.dags_folder": folder.path, "core.encryption_key": key });
  const secrets = new Secrets({ db, config, log: silent, env: {} });
  await secrets.stored.setConnection(readConnection("dwh", "postgres://ada:s3cr3t-of-the-dwh@db/sales"));
  const processor = new DagProcessor({ db, config, log });
  const { read } = await processor.processOnce();
  expect((await readImportErrors(db))["leaks.ts"]).toMatch(/^Error: cannot log in with \*\*\*/);
  expect(JSON.stringify([[...read], lines])).not.toContain("s3cr3t");
  expect(lines.join("")).toContain("a DAG file has an error");
});
