import { beforeEach, describe, expect, test } from "vitest";
import { seedDag, seedRun } from "../fixtures/seed.ts";
import { testApi } from "../fixtures/test-api.ts";
import type { TaskInstanceCollection } from "../types/index.ts";

const { api, db, database, get } = await testApi();
const TASKS = "/api/v2/dags/etl/dagRuns/one/taskInstances";

beforeEach(async () => {
  await database.reset();
  await seedDag(db, "etl");
  await seedRun(db, "etl", "one");
});

describe("task instances", () => {
  test("are listed, filtered and sorted; ~ is every run", async () => {
    const tasks = async (url: string) =>
      (await get(url)).json<TaskInstanceCollection>().task_instances.map((ti) => ti.task_id);
    expect(await tasks(`${TASKS}?order_by=-task_id`)).toEqual(["load", "extract"]);
    expect(await tasks(`${TASKS}?state=running`)).toEqual(["load"]);
    expect(await tasks(`${TASKS}?state=none`)).toEqual([]);
    expect(await tasks("/api/v2/dags/~/dagRuns/~/taskInstances?task_id=load&map_index=-1")).toEqual(["load"]);
    expect((await get("/api/v2/dags/etl/dagRuns/nope/taskInstances")).statusCode).toBe(404);
    expect((await get(`${TASKS}?map_index=x`)).statusCode).toBe(422);
  });

  test("have details and tries", async () => {
    expect((await get(`${TASKS}/load`)).json()).toMatchObject({ state: "running", try_number: 2, operator: null });
    expect((await get(`${TASKS}/nope`)).statusCode).toBe(404);
    expect((await get(`${TASKS}/load?map_index=3`)).statusCode).toBe(404);
    const tries = (await get(`${TASKS}/load/tries`)).json<TaskInstanceCollection>();
    expect(tries.task_instances.map((ti) => [ti.try_number, ti.state])).toEqual([
      [1, "failed"],
      [2, "running"],
    ]);
    expect((await get(`${TASKS}/nope/tries`)).statusCode).toBe(404);
  });

  test("of a mapped task are listed, and have an address each", async () => {
    const [run] = await db.read<{ id: number }>("select id from dag_run where run_id = 'one'");
    await db.read(
      `insert into task_instance (id, task_id, dag_id, run_id, dag_run_id, map_index, state, run_after, rendered_map_index)
       select gen_random_uuid(), 'each', 'etl', 'one', $1, i, 'success', now(), 'file ' || i from generate_series(0, 2) i`,
      [run?.id],
    );
    const mapped = (await get(`${TASKS}/each/listMapped?order_by=-map_index`)).json<TaskInstanceCollection>();
    expect([mapped.total_entries, ...mapped.task_instances.map((ti) => [ti.map_index, ti.rendered_map_index])]).toEqual(
      [3, [2, "file 2"], [1, "file 1"], [0, "file 0"]],
    );
    expect((await get(`${TASKS}/each/listMapped?map_index=1`)).json()).toMatchObject({ total_entries: 1 });
    expect((await get(`${TASKS}/load/listMapped`)).json()).toEqual({ task_instances: [], total_entries: 0 });
    expect((await get(`${TASKS}/nope/listMapped`)).statusCode).toBe(404);
    expect((await get(`${TASKS}/each/1`)).json()).toMatchObject({ map_index: 1, rendered_map_index: "file 1" });
    expect((await get(`${TASKS}/each/1/tries`)).json()).toMatchObject({ total_entries: 1 });
    expect((await get(`${TASKS}/each/7`)).json()).toMatchObject({
      detail: expect.stringContaining("with map index 7: it is mapped, and its indexes are 0 to 2") as string,
    });
    expect((await get(`${TASKS}/each`)).statusCode).toBe(404);
  });

  test("have XComs", async () => {
    const url = `${TASKS}/extract/xcomEntries`;
    expect((await get(url)).json()).toMatchObject({ xcom_entries: [{ key: "return_value" }], total_entries: 1 });
    expect((await get(`${url}/return_value`)).json()).toMatchObject({ value: { rows_read: 7 } });
    expect((await get(`${url}/return_value?stringify=true`)).json()).toMatchObject({ value: '{"rows_read":7}' });
    expect((await get("/api/v2/dags/~/dagRuns/~/taskInstances/~/xcomEntries")).json()).toMatchObject({
      total_entries: 1,
    });
    expect((await get(`${url}/other`)).statusCode).toBe(404);
    expect((await get("/api/v2/dags/etl/dagRuns/nope/taskInstances/extract/xcomEntries")).statusCode).toBe(404);
    expect((await get(`${url}?limit=-1`)).statusCode).toBe(422);
  });
});

describe("what operators look at", () => {
  test("errors of files", async () => {
    await db.read(
      `insert into import_error (filename, bundle_name, stacktrace) values ('bad.ts', 'dags-folder', 'boom')`,
    );
    expect((await get("/api/v2/importErrors")).json()).toMatchObject({
      import_errors: [{ filename: "bad.ts", stack_trace: "boom" }],
      total_entries: 1,
    });
    expect((await get("/api/v2/importErrors?limit=x")).statusCode).toBe(422);
  });

  test("pools with their slots", async () => {
    expect((await get("/api/v2/pools")).json()).toMatchObject({
      pools: [{ name: "default_pool", running_slots: 1, open_slots: 127 }],
    });
    expect((await get("/api/v2/pools/default_pool")).json()).toMatchObject({ slots: 128 });
    expect((await get("/api/v2/pools/nope")).statusCode).toBe(404);
    expect((await get("/api/v2/pools?order_by=slots")).statusCode).toBe(400);
  });

  test("processes, and whether they live", async () => {
    await db.read(`insert into job (job_type, state, latest_heartbeat) values
      ('SchedulerJob', 'running', now()), ('TriggererJob', 'running', now() - interval '1 hour')`);
    expect((await get("/api/v2/jobs?is_alive=true")).json()).toMatchObject({
      jobs: [{ job_type: "SchedulerJob" }],
      total_entries: 1,
    });
    expect((await get("/api/v2/jobs?is_alive=x")).statusCode).toBe(422);
    expect((await api.inject("/api/v2/monitor/health")).json()).toMatchObject({
      metadatabase: { status: "healthy" },
      scheduler: { status: "healthy", latest_scheduler_heartbeat: expect.any(String) },
      triggerer: { status: "unhealthy" },
      dag_processor: { status: null, latest_dag_processor_heartbeat: null },
    });
    expect((await api.inject("/api/v2/version")).json()).toMatchObject({ version: expect.stringMatching(/^\d/) });
  });
});
