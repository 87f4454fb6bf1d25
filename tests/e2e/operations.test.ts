// What people do to tasks that run, with real processes: the handler is told, whatever ignores that is killed with all it
// started, and what it still returns changes nothing.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { testDatabase, testRedisUrl, waitUntil, type MillraceProcess } from "@millrace/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openFleet, type Fleet } from "./fleet.ts";

const database = await testDatabase();
const redisUrl = await testRedisUrl();
const GRACE_MS = 2_000;
const HEARTBEAT_MS = 5_000;
/** A signal takes milliseconds, and this on a machine that is busy with other things; a heartbeat is later. */
const SIGNAL_MS = 4_000;

let fleet: Fleet;
let worker: MillraceProcess;

beforeAll(async () => {
  fleet = await openFleet(database, redisUrl, database.url, {
    MILLRACE__CORE__KILLED_TASK_CLEANUP_TIME: String(GRACE_MS / 1000),
    // No heartbeat may come to the aid of a signal that was lost.
    MILLRACE__SCHEDULER__TASK_INSTANCE_HEARTBEAT_SEC: String(HEARTBEAT_MS / 1000),
    MILLRACE__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT: String((3 * HEARTBEAT_MS) / 1000),
  });
  await fleet.start(["dag-processor"]);
  await waitUntil(async () => (await fleet.query("select from dag where dag_id like 'operations_%'")).length === 3, {
    what: "every DAG is read",
    timeoutMs: 60_000,
  });
  await fleet.query("update dag set is_paused = true where dag_id not like 'operations_%'");
  await fleet.start(["scheduler"]);
  worker = await fleet.start(["worker"]);
}, 180_000);

afterAll(async () => {
  await fleet.close();
});

/** Starts a run and waits until its task has told that it runs. */
async function begin(kind: "heeding" | "stubborn" | "scripting", task: string) {
  const dagId = `operations_${kind}`;
  const runId = `run_${task}_${++runs}`;
  const folder = fleet.folder;
  const notes = async (): Promise<{ what: string; at: number }[]> =>
    (await readFile(join(folder, task), "utf8").catch(() => ""))
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => ({ what: line.split(" ")[0] ?? "", at: Number(line.split(" ")[1]) }));
  const before = (await notes()).length;
  const told = async () => (await notes()).slice(before);
  await fleet.command(["dags", "trigger", dagId, "-r", runId, "-c", JSON.stringify({ folder })]);
  await waitUntil(async () => (await told()).length > 0, { what: `${task} runs`, timeoutMs: 30_000 }).catch(
    async (error: unknown) => {
      throw new Error(`${String(error)}\n${(await fleet.command(["explain", dagId, runId])).join("\n")}`);
    },
  );
  const state = async () =>
    (
      await fleet.query<{ state: string; mark: string | null; try_number: number; max_tries: number }>(
        "select coalesce(state, 'none') as state, mark, try_number, max_tries from task_instance where run_id = $1 and task_id = $2",
        [runId, task],
      )
    )[0];
  const path = async () =>
    await fleet.query<{ to: string; at: Date; actor: string }>(
      `select coalesce(x.to_state, 'none') as "to", x.at, x.actor from task_instance_transition x
       join task_instance ti using (row_id) where ti.run_id = $1 and ti.task_id = $2 order by x.epoch`,
      [runId, task],
    );
  const at = async (to: string) => (await path()).find((one) => one.to === to)?.at.getTime() ?? NaN;
  return { dagId, runId, told, state, path, at };
}
let runs = 0;

/** A process that was killed stays as a zombie until whoever inherited it takes notice. */
const isAlive = async (pid: number): Promise<boolean> => {
  const { stdout } = await promisify(execFile)("ps", ["-o", "stat=", "-p", String(pid)]).catch(() => ({ stdout: "" }));
  return stdout.trim() !== "" && !stdout.startsWith("Z");
};
const xcom = async (runId: string, task: string) =>
  (
    await fleet.query<{ value: unknown }>("select value from xcom where run_id = $1 and task_id = $2", [runId, task])
  ).map((row) => row.value);

describe("a task that runs", { timeout: 120_000 }, () => {
  it("and is cleared hears of it by a signal, starts afresh without using a retry, and its late result is dropped", async () => {
    const { dagId, runId, told, state, path, at } = await begin("heeding", "heeds");
    await fleet.command(["tasks", "clear", dagId, "heeds", "-r", runId, "-y"]);
    expect(await fleet.ended(dagId, runId)).toEqual({
      state: "success",
      tasks: { heeds: "success", after: "success" },
    });
    expect((await path()).map((one) => one.to)).toEqual([
      ...["scheduled", "queued", "running", "restarting", "none"],
      ...["scheduled", "queued", "running", "success"],
    ]);
    const aborted = (await told()).find((one) => one.what === "aborted");
    expect((aborted?.at ?? NaN) - (await at("restarting"))).toBeLessThan(SIGNAL_MS);
    expect(await state()).toMatchObject({ try_number: 2, max_tries: 2 });
    expect(await xcom(runId, "heeds")).toEqual(["second"]);
    const kept = await fleet.query("select try_number, state from task_instance_history where run_id = $1", [runId]);
    expect(kept).toEqual([{ try_number: 1, state: "failed" }]);
  });

  it("and is restarted but hears nothing gets SIGTERM, then SIGKILL within the grace time", async () => {
    const { dagId, runId, told, at } = await begin("stubborn", "ignores");
    await fleet.command(["tasks", "restart", dagId, "-r", runId, "-y"]);
    expect((await fleet.ended(dagId, runId)).state).toBe("success");
    expect((await told()).map((one) => one.what)).toEqual(["started", "sigterm", "started"]);
    const took = (await at("none")) - (await at("restarting"));
    expect(took).toBeGreaterThan(GRACE_MS / 2);
    expect(took).toBeLessThan(GRACE_MS + SIGNAL_MS);
  });

  it("and is marked failed fails, and every process of its script is gone", async () => {
    const { dagId, runId, told, state } = await begin("scripting", "script");
    const pid = Number((await told())[0]?.what);
    expect(await isAlive(pid)).toBe(true);
    await fleet.command(["tasks", "set-state", dagId, "script", runId, "failed", "-y"]);
    expect(await fleet.ended(dagId, runId)).toEqual({
      state: "failed",
      tasks: { script: "failed", behind: "upstream_failed" },
    });
    expect(await state()).toMatchObject({ state: "failed", try_number: 1, mark: null });
    expect(await isAlive(pid)).toBe(false);
  });

  it("and is marked success ends so, without the value that it still returned, and what follows goes on", async () => {
    const { dagId, runId, told } = await begin("heeding", "heeds");
    await fleet.command(["tasks", "set-state", dagId, "heeds", runId, "success", "-y"]);
    expect(await fleet.ended(dagId, runId)).toEqual({
      state: "success",
      tasks: { heeds: "success", after: "success" },
    });
    expect((await told()).map((one) => one.what)).toEqual(["started", "aborted"]);
    expect(await xcom(runId, "heeds")).toEqual([]);
  });

  it("and is stopped by the end of its run stops", async () => {
    const { dagId, runId, told, state } = await begin("heeding", "heeds");
    await fleet.command(["dags", "set-run-state", dagId, runId, "failed", "-y"]);
    await waitUntil(async () => (await state())?.state === "failed", { what: "the task is failed" });
    expect((await told()).map((one) => one.what)).toEqual(["started", "aborted"]);
    expect(await fleet.ended(dagId, runId)).toEqual({ state: "failed", tasks: { heeds: "failed", after: "skipped" } });
  });

  it("and is stopped while its worker is killed ends as was wished, and nothing of it goes on", async () => {
    const { dagId, runId, path } = await begin("stubborn", "ignores");
    await fleet.command(["tasks", "stop", dagId, "-r", runId, "-y"]);
    worker.kill("SIGKILL");
    expect(await fleet.ended(dagId, runId)).toEqual({ state: "failed", tasks: { ignores: "failed" } });
    const steps = await path();
    expect(steps.map((one) => one.to).slice(-2)).toEqual(["shutdown", "failed"]);
    expect(steps.at(-1)?.actor).toContain("scheduler");
    // Fails when anything that the worker started is still there.
    await worker.dispose();
  });
});
