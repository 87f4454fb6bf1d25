// Runs of a DAG that is not pinned to its versions go on with the newest one; those of others stay with their own.
import { DagVersions, triggerRun } from "@millrace/shared/db";
import { testDatabase } from "@millrace/testkit";
import { beforeEach, expect, test } from "vitest";
import { DagProcessor } from "../dag-processor.ts";
import { dagFile, testDagFolder } from "../fixtures/dag-folder.ts";
import { openTestDatabase, silent, testConfig } from "../fixtures/records.ts";

const database = await testDatabase();
const db = openTestDatabase(database);
beforeEach(() => database.reset());

const UNPINNED = "{ disableBundleVersioning: true }";

test("a new version takes along the runs that are not over, and what has not begun in them", async () => {
  const folder = await testDagFolder({
    "free.ts": dagFile("free", UNPINNED, ["done", "gone", "kept"]),
    "pinned.ts": dagFile("pinned", "{}", ["kept"]),
  });
  const config = testConfig({ "core.dags_folder": folder.path });
  const read = () => new DagProcessor({ db, config, log: silent }).processOnce();
  await read();
  for (const [dagId, runId] of [
    ["free", "open"],
    ["free", "over"],
    ["pinned", "open"],
  ] as const) {
    await triggerRun(db, new DagVersions(db), { dagId, runId, triggeredBy: "cli", user: "ada" });
  }
  const move = async (sql: string) => {
    for (const state of ["scheduled", "queued", "running", "success"]) {
      await db.read(`update task_instance set state = $1, epoch = epoch + 1 where ${sql}`, [state]);
    }
  };
  await move("dag_id = 'free' and run_id = 'open' and task_id = 'done'");
  for (const state of ["running", "success"]) {
    await db.read("update dag_run set state = $1 where run_id = 'over'", [state]);
  }
  await folder.write("free.ts", dagFile("free", UNPINNED, ["done", "kept", "added"]));
  await folder.write("pinned.ts", dagFile("pinned", "{}", ["kept", "added"]));
  await read();

  const runs = await db.read(
    `select r.dag_id || ' ' || r.run_id as run, v.version_number as version
     from dag_run r join dag_version v on v.id = r.created_dag_version_id order by 1`,
  );
  expect(runs).toEqual([
    { run: "free open", version: 2 },
    { run: "free over", version: 1 },
    { run: "pinned open", version: 1 },
  ]);
  const tasks = await db.read(
    `select ti.task_id as task, ti.state, v.version_number as version
     from task_instance ti join dag_version v on v.id = ti.dag_version_id where ti.dag_id = 'free' and run_id = 'open' order by 1`,
  );
  expect(tasks).toEqual([
    { task: "added", state: null, version: 2 },
    { task: "done", state: "success", version: 1 },
    { task: "gone", state: "removed", version: 1 },
    { task: "kept", state: null, version: 2 },
  ]);
});
