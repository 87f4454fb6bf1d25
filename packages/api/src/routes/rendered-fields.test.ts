// The options of a task as its templates made them, over HTTP, where Airflow has them.
import { expect, test } from "vitest";
import { seedDag, seedRun } from "../fixtures/seed.ts";
import { testApi } from "../fixtures/test-api.ts";
import type { TaskInstance, TaskInstanceCollection } from "../types/index.ts";

const { db, get } = await testApi();
const TASKS = "/api/v2/dags/etl/dagRuns/one/taskInstances";

test("a task instance has its rendered fields, and one of a mapped task those of its index", async () => {
  await seedDag(db, "etl");
  await seedRun(db, "etl", "one");
  expect((await get(`${TASKS}/load`)).json<TaskInstance>().rendered_fields).toEqual({});
  await db.read("update task_instance set map_index = 3 where task_id = 'extract'");
  await db.read(
    `insert into rendered_task_instance_fields (dag_id, task_id, run_id, map_index, rendered_fields)
     values ('etl', 'load', 'one', -1, '{"command": "echo ***"}'), ('etl', 'extract', 'one', 3, '{"sql": "select 3"}')`,
  );
  expect((await get(`${TASKS}/load`)).json<TaskInstance>().rendered_fields).toEqual({ command: "echo ***" });
  expect((await get(`${TASKS}/extract/3`)).json<TaskInstance>()).toMatchObject({
    map_index: 3,
    rendered_fields: { sql: "select 3" },
  });
  expect((await get(`${TASKS}/extract?map_index=3`)).json<TaskInstance>().rendered_fields).toEqual({ sql: "select 3" });
  expect((await get(`${TASKS}/extract/4`)).statusCode).toBe(404);
  const { task_instances: all } = (await get(TASKS)).json<TaskInstanceCollection>();
  expect(all.map((ti) => ti.rendered_fields)).toContainEqual({ command: "echo ***" });
});
