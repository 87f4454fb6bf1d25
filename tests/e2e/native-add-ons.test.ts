// Packages with native code in DAGs of real workers: one that the worker has runs, one that it has not is named.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { testDatabase, testRedisUrl, waitUntil } from "@millrace/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openFleet, type Fleet } from "./fleet.ts";

const database = await testDatabase();
const redisUrl = await testRedisUrl();
let fleet: Fleet;

const FILE = `
import { Dag } from "@millrace/sdk";

new Dag("native_present").task("compiles", async () => {
  const { transformSync } = await import("@swc/core");
  return transformSync("const a: number = 1;", { jsc: { parser: { syntax: "typescript" } } }).code.trim();
})();
new Dag("native_absent").task("asks", async () => (await import("absent-add-on")).default.answer())();
`;

beforeAll(async () => {
  fleet = await openFleet(database, redisUrl, database.url, {
    NODE_PATH: fileURLToPath(new URL("../../node_modules", import.meta.url)),
  });
  const dags = join(fleet.folder, "dags");
  // Where the file is read it is installed, and nowhere else.
  const absent = join(dags, "node_modules/absent-add-on");
  await mkdir(absent, { recursive: true });
  await writeFile(join(absent, "package.json"), JSON.stringify({ name: "absent-add-on", main: "absent.node" }));
  await writeFile(join(absent, "absent.node"), "");
  await writeFile(join(dags, "native.ts"), FILE);
  const processor = await fleet.start(["dag-processor"]);
  await waitUntil(async () => (await fleet.query("select from dag where dag_id like 'native_%'")).length === 2, {
    what: "the DAGs are read",
    timeoutMs: 90_000,
  });
  expect(processor.lines.join("\n")).toContain('native add-on \\"absent-add-on/absent.node\\"');
  await fleet.query("update dag set is_paused = dag_id not like 'native_%'");
  for (const name of ["scheduler", "worker"]) await fleet.start([name]);
}, 240_000);

afterAll(() => fleet.close());

it("an add-on that the worker finds is loaded", { timeout: 120_000 }, async () => {
  await fleet.command(["dags", "trigger", "native_present", "-r", "r"]);
  expect((await fleet.ended("native_present", "r")).state).toBe("success");
  expect(await fleet.query("select value from xcom where dag_id = 'native_present'")).toEqual([
    { value: expect.stringContaining("a = 1") as unknown },
  ]);
});

it("one that it does not find fails the task, which names it", { timeout: 120_000 }, async () => {
  await fleet.command(["dags", "trigger", "native_absent", "-r", "r"]);
  expect((await fleet.ended("native_absent", "r")).state).toBe("failed");
  const path = join(fleet.folder, "logs/dag_id=native_absent/run_id=r/task_id=asks/attempt=1.log");
  expect(await readFile(path, "utf8")).toContain("Cannot find module 'absent-add-on/absent.node'");
});
