import { testDatabase } from "@millrace/testkit";
import { Database } from "@millrace/shared/db";
import { createLogger } from "@millrace/shared/observability";
import { afterAll, expect, test } from "vitest";
import { analyzeGrown } from "./analyze-grown.ts";

const database = await testDatabase();
const log = createLogger({ level: "silent", name: "test" });
const db = new Database({ url: database.url, applicationName: "test", maxConnections: 2, maxRetries: 0, log });
afterAll(() => db.close());

const addTasks = async (name: string, count: number): Promise<void> => {
  await db.read(
    `insert into task_instance (id, task_id, map_index, dag_id, run_id, dag_run_id, run_after)
     select gen_random_uuid(), $1, g, 'd', 'r', r.id, now() from dag_run r, generate_series(1, $2::int) g`,
    [name, count],
  );
};

test("a table is counted when it has grown to more than twice its size, and then not again", async () => {
  await db.read(
    `insert into dag (dag_id, is_paused, bundle_name, max_active_tasks, max_active_runs) values ('d', false, 'dags-folder', 1, 1)`,
  );
  await db.read(
    `insert into dag_run (dag_id, run_id, run_type, state, run_after) values ('d', 'r', 'manual', 'running', now())`,
  );
  const counted = async () =>
    (await db.read<{ rows: number }>("select reltuples::int as rows from pg_class where relname = 'task_instance'"))[0]
      ?.rows;
  await addTasks("few", 50);
  expect(await analyzeGrown(db)).toEqual([]);
  await addTasks("many", 5_000);
  expect(await analyzeGrown(db)).toEqual(["task_instance"]);
  expect(await counted()).toBe(5_050);
  await addTasks("more", 2_000);
  expect(await analyzeGrown(db)).toEqual([]);
  await addTasks("most", 10_000);
  expect(await analyzeGrown(db)).toEqual(["task_instance"]);
});
