import { describe, expect, test } from "vitest";
import { deleteRun, markRun, markTasks, type MarkRequest } from "./index.ts";
import { history, names, TASKS, USER } from "./fixtures/history.ts";

const { db, versions, seed, states, row, run, log, newId } = await history();

const mark = (state: string, given: Partial<MarkRequest> = {}) =>
  markTasks(db, versions, { dagId: "dag", runIds: ["r1"], taskIds: ["load"], state, user: USER, ...given });
const setRun = (state: string, runId = "r1") => markRun(db, versions, { dagId: "dag", runId, state, user: USER });

describe("a mark", () => {
  test.each(["success", "failed", "skipped"])("%s ends what no worker has, under the same id", async (state) => {
    await seed([{ load: "scheduled", report: "none", clean: "none" }], ["running"]);
    const before = await row("load");
    const { tasks, stopped } = await mark(state);
    expect([names(tasks), stopped]).toEqual([["r1 load"], []]);
    expect(await row("load")).toMatchObject({ id: before["id"], state, state_reason: `marked ${state} by ada` });
    expect(await db.read("select from task_instance_history")).toEqual([]);
  });

  test.each(["success", "failed", "skipped"])("%s stops what a worker has, which then ends so", async (state) => {
    await seed([{ load: "running" }], ["running"]);
    const { stopped } = await mark(state);
    expect(stopped).toEqual([(await row("load"))["id"]]);
    expect(await row("load")).toMatchObject({ state: "shutdown", mark: state });
  });

  test("clears what failed behind it and queues the finished run again", async () => {
    await seed([{ load: "failed", report: "upstream_failed", clean: "success" }]);
    const { dagRunIds } = await mark("success");
    expect(await states()).toMatchObject({ load: "success", report: "none", clean: "success" });
    expect(await run()).toMatchObject({ state: "queued" });
    expect(dagRunIds).toHaveLength(1);
    expect(await log()).toMatchObject([{ event: "mark success", run_id: "r1", task_id: "load", owner: USER }]);
  });

  test("leaves what it names alone when that has the state already", async () => {
    await seed([{ load: "success", report: "failed", clean: "upstream_failed" }]);
    await mark("failed", { taskIds: ["load", "report"] });
    expect(await states()).toMatchObject({ load: "failed", report: "failed" });
  });

  test("of one instance of a mapped task clears behind it, and leaves the other instances", async () => {
    const [id] = await seed([{ load: "failed", report: "upstream_failed" }]);
    await db.read(
      `insert into task_instance (id, task_id, dag_id, run_id, dag_run_id, map_index, state, run_after, epoch)
       select gen_random_uuid(), 'load', 'dag', 'r1', $1::int8, i, 'failed', now(), 1 from generate_series(0, 1) i`,
      [id],
    );
    await mark("success", { mapIndexes: { load: [0] } });
    const rows = await db.read(
      "select map_index as i, state from task_instance where task_id = 'load' order by map_index",
    );
    expect(rows).toEqual([
      { i: -1, state: "failed" },
      { i: 0, state: "success" },
      { i: 1, state: "failed" },
    ]);
    expect(await states()).toMatchObject({ report: "none" });
  });

  test("that changes nothing leaves everything alone", async () => {
    await seed([{ load: "failed", report: "upstream_failed" }]);
    expect((await mark("failed")).tasks).toEqual([]);
    expect(await states()).toMatchObject({ report: "upstream_failed" });
    expect([await run(), await log()]).toMatchObject([{ state: "failed" }, []]);
  });

  test("goes up, down, back and forth as a clear does; a dry run only looks", async () => {
    await seed([{}, {}, {}]);
    const dry = { dryRun: true, runIds: ["r2"], past: true, downstream: true };
    const { tasks } = await mark("failed", dry);
    expect(names(tasks)).toEqual(["r1 clean", "r1 load", "r1 report", "r2 clean", "r2 load", "r2 report"]);
    expect(await states("r2")).toMatchObject({ load: "success" });
  });

  test("only of what runs is a stop", async () => {
    await seed([{ extract: "running", load: "none" }], ["running"]);
    const { tasks } = await markTasks(db, versions, {
      ...{ dagId: "dag", runIds: ["r1"], state: "failed", onlyRunning: true, user: USER },
    });
    expect(names(tasks)).toEqual(["r1 extract"]);
    expect(await row("extract")).toMatchObject({ state: "shutdown", mark: "failed", state_reason: "stopped by ada" });
    expect(await states()).toMatchObject({ load: "none" });
  });

  test.each(["running", "queued", "Success", ""])("%j is refused", async (state) => {
    await seed([{}]);
    await expect(mark(state)).rejects.toMatchObject({ code: "STATE_INVALID" });
  });

  test("without callbacks makes no intent, now or when the worker has stopped", async () => {
    await seed(
      [{ load: { state: "running", callbacks: ["onFailure"] }, report: { state: "none", callbacks: ["onFailure"] } }],
      ["running"],
    );
    await mark("failed", { taskIds: ["load", "report"], runCallbacks: false });
    expect(await db.read("select from callback")).toEqual([]);
    expect(await row("load")).toMatchObject({ callbacks_wanted: false });
  });
});

describe("a run that is marked", () => {
  const { make: _make, clean: _clean, ...others } = TASKS;
  const PLAIN = { ...others, extract: { retries: 2 } };

  test("success succeeds with all its tasks", async () => {
    await seed([{ extract: "failed", load: "running", report: "none" }], ["running"], PLAIN);
    const { stopped } = await setRun("success");
    expect(await states()).toEqual({ extract: "success", load: "shutdown", report: "success" });
    expect(stopped).toEqual([(await row("load"))["id"]]);
    expect(await run()).toMatchObject({ state: "success", end_date: expect.any(Date) as Date });
    expect(await log()).toMatchObject([{ event: "mark run success", run_id: "r1" }]);
  });

  test("failed stops what runs, skips what has not begun, and keeps what has ended", async () => {
    await seed([{ load: "running", report: "scheduled" }], ["running"], PLAIN);
    await setRun("failed");
    expect(await states()).toEqual({ extract: "success", load: "shutdown", report: "skipped" });
    expect(await row("load")).toMatchObject({ mark: "failed" });
    expect(await run()).toMatchObject({ state: "failed" });
  });

  test.each(["success", "failed"])("%s goes on while its teardown has still to run", async (state) => {
    await seed([{ load: "running", report: "none", clean: "none" }], ["running"]);
    await setRun(state);
    expect(await states()).toMatchObject({ load: "shutdown", clean: "none" });
    expect(await run()).toMatchObject({ state: "running", mark: state === "failed" ? "failed" : null });
  });

  test("queued is scheduled again as its tasks stand", async () => {
    await seed([{ load: "failed" }]);
    await setRun("queued");
    expect(await run()).toMatchObject({ state: "queued", start_date: null, end_date: null });
    expect(await states()).toMatchObject({ load: "failed" });
  });

  test("with another state is refused", async () => {
    await seed([{}]);
    await expect(setRun("running")).rejects.toMatchObject({ code: "STATE_INVALID" });
    await expect(setRun("failed", "nope")).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
  });
});

describe("a run that is deleted", () => {
  const remove = () => deleteRun(db, versions, { dagId: "dag", runId: "r1", user: USER });

  test("takes its tasks, history and values with it and leaves the others; what a worker still has is stopped", async () => {
    const [id] = await seed([{ load: { state: "shutdown", mark: "failed" } }, {}]);
    await db.read(
      `insert into task_instance_history (task_instance_id, task_id, dag_id, run_id, try_number, epoch, pool) values ($1, 'load', 'dag', 'r1', 0, 1, 'p')`,
      [newId()],
    );
    await db.read(
      `insert into xcom (dag_run_id, task_id, key, dag_id, run_id, value) values ($1, 'load', 'k', 'dag', 'r1', '1')`,
      [id],
    );
    const held = (await row("load"))["id"];
    expect((await remove()).stopped).toEqual([held]);
    for (const table of ["dag_run", "task_instance", "task_instance_history", "xcom"]) {
      expect(await db.read(`select from ${table} where run_id = 'r1'`), table).toEqual([]);
    }
    expect(await db.read("select from task_instance where run_id = 'r2'")).toHaveLength(5);
    expect(await log()).toMatchObject([{ event: "delete run", run_id: "r1", owner: USER }]);
  });

  test("while it runs is refused", async () => {
    await seed([{}], ["running"]);
    await expect(remove()).rejects.toMatchObject({ code: "RUN_RUNNING", httpStatus: 409 });
  });
});
