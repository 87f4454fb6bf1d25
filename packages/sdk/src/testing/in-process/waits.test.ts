import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Dag, deferrable, hitl } from "../../index.ts";
import { triggerDagRun } from "../../operators/index.ts";
import { artifact } from "../../runtime/index.ts";
import { pokeReturn, sensor, timeSensor } from "../../sensors/index.ts";
import { after, defineTrigger, endTask, fileExists } from "../../triggers/index.ts";
import { MemoryStore } from "./memory-store.ts";
import { runInProcess } from "./run-in-process.ts";
import type { InProcessOptions } from "./test-run.ts";

/** Taken before time is faked. */
const realImmediate = setImmediate;

beforeEach(() => {
  vi.useFakeTimers({ now: Date.parse("2026-03-01T00:00:00Z") });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Runs a DAG, letting as much time pass as it wants. */
async function run(dag: Dag, options: Pick<InProcessOptions, "signal" | "store"> = {}) {
  const changes: string[] = [];
  const begin = Date.now();
  const onChange = ({ taskId, state }: { taskId: string; state: string }) => changes.push(`${taskId} ${state}`);
  const ended = runInProcess(artifact, dag.spec(), { logicalDate: begin, onChange, ...options });
  let hasEnded = false;
  void ended.finally(() => (hasEnded = true));
  // Files are looked for in real time, so there may be a moment without a timer.
  while (!hasEnded) {
    await vi.advanceTimersToNextTimerAsync();
    await new Promise((resolve) => realImmediate(resolve));
  }
  return { ...(await ended), changes, seconds: (Date.now() - begin) / 1000 };
}

test("a deferred task waits for its trigger and goes on with its event", async () => {
  const dag = new Dag("in_process_deferral");
  const waits = dag.task("waits", deferrable({ start: () => after(60), resume: (event) => event.at }))();
  const seen: unknown[] = [];
  dag.task("reads", ({ at }: { at: string }) => void seen.push(at))({ at: waits });
  const { state, changes, seconds } = await run(dag);
  expect({ state, seconds, seen }).toEqual({ state: "success", seconds: 60, seen: ["2026-03-01T00:01:00.000Z"] });
  expect(changes.filter((change) => change.startsWith("waits"))).toEqual([
    ...["waits scheduled", "waits running", "waits deferred", "waits running", "waits success"],
  ]);
});

test("a task that begins with its trigger is in no process before the event", async () => {
  const folder = await mkdtemp(join(tmpdir(), "millrace-wait-"));
  try {
    await writeFile(join(folder, "a.csv"), "1");
    const dag = new Dag("in_process_start");
    dag.task("file", deferrable({ trigger: fileExists({ path: join(folder, "*.csv") }) }))();
    const { state, changes } = await run(dag);
    expect(state).toBe("success");
    expect(changes).not.toContain("file running");
    expect(changes).toContain("file deferred");
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("the event of a task that ends with it is its value, unless it pushes none", async () => {
  const dag = new Dag("in_process_push");
  dag.task("pushes", deferrable({ trigger: after(5) }))();
  dag.task("keeps", deferrable({ trigger: after(5) }), { doXcomPush: false })();
  const store = new MemoryStore();
  const { runId, state } = await run(dag, { store });
  expect(state).toBe("success");
  const xcomsOf = (taskId: string) => store.xcomsOf({ dagId: dag.dagId, runId, taskId, mapIndex: -1 });
  expect(xcomsOf("pushes")).toEqual({ return_value: { at: "2026-03-01T00:00:05.000Z" } });
  expect(xcomsOf("keeps")).toEqual({});
});

test("own triggers run, also those that end their task, and a wait that is too long times out", async () => {
  const ends = defineTrigger({ name: "ends_task", run: () => endTask.skipped("no data") });
  const blocks = defineTrigger({ name: "blocks", run: () => new Promise<string>(() => {}) });
  const dag = new Dag("in_process_own");
  dag.task("ends", deferrable({ start: () => ends(), resume: () => 1 }))();
  dag.task("blocks", deferrable({ start: () => blocks(), resume: () => 1, timeout: 30 }))();
  const { tasks, seconds } = await run(dag);
  expect(tasks).toMatchObject([
    { taskId: "ends", state: "skipped", reason: "no data" },
    { taskId: "blocks", state: "failed", error: { name: "TriggerTimeout" } },
  ]);
  expect(seconds).toBe(30);
});

test("sensors reschedule and defer", async () => {
  const dag = new Dag("in_process_sensors");
  let pokes = 0;
  dag.task("reschedules", sensor({ poke: () => ++pokes > 2, mode: "reschedule", pokeInterval: 300 }))();
  dag.task(
    "defers",
    sensor({ poke: (_args, { pokeNumber }) => pokeReturn(pokeNumber > 3, pokeNumber), mode: "deferrable" }),
  )();
  dag.task("time", timeSensor({ at: new Date("2026-03-01T00:02:00Z"), mode: "deferrable" }))();
  const { tasks, changes, seconds } = await run(dag);
  expect(tasks.map((task) => task.error?.message ?? task.state)).toEqual(["success", "success", "success"]);
  expect(seconds).toBe(600);
  expect(changes.filter((change) => change === "reschedules up_for_reschedule")).toHaveLength(2);
  expect(changes.filter((change) => change.startsWith("defers"))).toEqual([
    ...["defers scheduled", "defers running", "defers deferred", "defers success"],
  ]);
});

test("what needs more than this process says so", async () => {
  const dag = new Dag("in_process_services");
  dag.task("ask", hitl({ subject: "Go?", options: ["yes"] }))();
  dag.task("starts", triggerDagRun({ dagId: "other" }))();
  const { tasks } = await run(dag);
  expect(tasks.map((task) => task.error?.message)).toEqual([
    expect.stringContaining("nobody can be asked while a DAG runs without services"),
    'there is no other DAG while one runs without services, so a run of "other" is not started',
  ]);
});

test("an interrupt ends a wait", async () => {
  const dag = new Dag("in_process_interrupt");
  dag.task("waits", deferrable({ start: () => after(1e9), resume: () => 1 }))();
  dag.task("pokes", sensor({ poke: () => false, mode: "reschedule", pokeInterval: 1e9 }))();
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 1000);
  const { wasAborted, tasks, seconds } = await run(dag, { signal: controller.signal });
  expect({ wasAborted, seconds }).toEqual({ wasAborted: true, seconds: 1 });
  expect(tasks.map((task) => task.state)).toEqual(["failed", "failed"]);
});
