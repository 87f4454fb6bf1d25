import { expect, test } from "vitest";
import { newId } from "../index.ts";
import { dagSpec, taskSpec } from "../../model/fixtures/dag.ts";
import { clearTasks } from "./index.ts";
import { history, USER } from "./fixtures/history.ts";

const { db, versions, seed, states, row } = await history();

/** A second version: without `report`, with `publish` after `load`, and `load` in another queue. */
async function changeDag(): Promise<string> {
  const spec = dagSpec(
    [
      taskSpec("make", { isSetup: true }),
      taskSpec("extract", { upstream: ["make"], retries: 2 }),
      taskSpec("load", { upstream: ["extract"], queue: "heavy", retries: 5 }),
      taskSpec("publish", { upstream: ["load"] }),
      taskSpec("clean", { upstream: ["make", "publish"], isTeardown: true }),
    ],
    { dagId: "dag" },
  );
  const id = newId();
  await db.read(
    "insert into dag_version (id, dag_id, version_number, artifact_hash, bundle_version) values ($1, 'dag', 2, 'hash', 'c2')",
    [id],
  );
  await db.read(
    "insert into serialized_dag (id, dag_id, data, dag_hash, dag_version_id) values (gen_random_uuid(), 'dag', $1, 'h2', $2)",
    [JSON.stringify(spec), id],
  );
  return id;
}

const clear = async (runOnLatestVersion: boolean) =>
  await clearTasks(db, versions, {
    dagId: "dag",
    runIds: ["r1"],
    taskIds: ["load"],
    downstream: true,
    runOnLatestVersion,
    user: USER,
  });

test("a cleared run goes on with the version that it began with, unless asked otherwise", async () => {
  await seed([{ load: "failed", report: "upstream_failed" }]);
  const before = (await row("load"))["dag_version_id"];
  await changeDag();
  await clear(false);
  expect((await row("load"))["dag_version_id"]).toBe(before);
  expect(await states()).toMatchObject({ load: "none", report: "none" });
});

test("onto the newest version: new tasks are added, lost ones removed, what starts afresh is as it says there", async () => {
  await seed([{ load: "failed", report: "none" }]);
  const extracted = (await row("extract"))["dag_version_id"];
  const newest = await changeDag();
  await clear(true);
  expect(await states()).toEqual({
    make: "success",
    extract: "success",
    load: "none",
    publish: "none",
    clean: "none",
    report: "removed",
  });
  expect(await row("load")).toMatchObject({ dag_version_id: newest, queue: "heavy", max_tries: 6 });
  // What ended before is left as it was run.
  expect((await row("extract"))["dag_version_id"]).toBe(extracted);
  expect(await db.read("select created_dag_version_id as id, bundle_version as commit from dag_run")).toEqual([
    { id: newest, commit: "c2" },
  ]);
});
