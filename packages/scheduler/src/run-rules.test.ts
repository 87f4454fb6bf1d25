// Rules about a run as a whole, with a scheduler as it runs in production.
import { finishAttempts } from "@millrace/shared/db";
import type { AttemptMessage } from "@millrace/shared/queue";
import { expect, test } from "vitest";
import { installation } from "./fixtures/installation.ts";

const on = await installation();
const { db, claim, finish, work, seedDag, trigger, startScheduler, count, until } = on;

const ended = async (runs: number) =>
  await until(
    `${runs} runs are over`,
    async () => (await count("dag_run where state in ('success', 'failed')")) >= runs,
  );
const states = async (): Promise<Record<string, string>> =>
  Object.fromEntries(
    (
      await db.read<{ task: string; state: string }>(
        "select task_id as task, coalesce(state, 'none') as state from task_instance",
      )
    ).map((row) => [row.task, row.state]),
  );

test("a run over its dagrunTimeout fails: what runs is stopped, what has not begun is skipped", async () => {
  await seedDag("slow", { a: {}, b: { upstream: ["a"] } }, { spec: { dagrunTimeout: 0.3 } });
  on.onMessage(claim);
  await startScheduler();
  await trigger("slow");
  await ended(1);
  expect(await db.read("select state, state_reason as reason from dag_run")).toEqual([
    { state: "failed", reason: "timed_out" },
  ]);
  expect(await states()).toEqual({ a: "shutdown", b: "skipped" });
  expect(await db.read("select mark from task_instance where task_id = 'a'")).toEqual([{ mark: "failed" }]);
});

test("a DAG whose newest runs have all failed is paused, and the audit log says why", async () => {
  await seedDag("failing", { a: {} }, { maxConsecutiveFailedDagRuns: 2 });
  on.onMessage(async (message) => {
    if (await claim(message)) await finish(message, "failed");
  });
  await startScheduler();
  await trigger("failing");
  await ended(1);
  expect(await count("dag where is_paused")).toBe(0);
  await trigger("failing");
  await until("the DAG is paused", async () => (await count("dag where is_paused")) === 1);
  expect(await db.read("select event, dag_id, extra from log where event = 'paused'")).toEqual([
    { event: "paused", dag_id: "failing", extra: "its newest 2 runs have all failed" },
  ]);
});

test("a DAG that fails fast skips what waits and stops what runs, but not its teardown", async () => {
  await seedDag(
    "fast",
    {
      make: { isSetup: true },
      fails: { upstream: ["make"] },
      runs: { upstream: ["make"] },
      waits: { upstream: ["runs"] },
      clean: { upstream: ["make", "fails", "waits"], isTeardown: true, triggerRule: "all_done_setup_success" },
    },
    { spec: { failFast: true } },
  );
  const taskOf = async (id: string) =>
    (await db.read<{ task: string }>("select task_id as task from task_instance where id = $1", [id]))[0]?.task;
  let isRunning: () => void = () => undefined;
  const running = new Promise<void>((resolve) => (isRunning = resolve));
  on.onMessage(async (message) => {
    const task = await taskOf(message.id);
    if (task === "runs") {
      await claim(message);
      isRunning();
    } else if (task === "fails") {
      await running;
      if (await claim(message)) await finish(message, "failed");
    } else await work(message);
  });
  await startScheduler();
  await trigger("fast");
  await until("the rest is ended", async () => (await states())["waits"] === "skipped");
  expect(await states()).toMatchObject({ make: "success", fails: "failed", runs: "shutdown", waits: "skipped" });
});

test("a DAG that fails fast expands nothing any more, though the list is there with the failure", async () => {
  const held = new Map<string, AttemptMessage>();
  on.onMessage(async (message) => {
    if (!(await claim(message))) return;
    const [ti] = await db.read<{ taskId: string }>(`select task_id as "taskId" from task_instance where id = $1`, [
      message.id,
    ]);
    held.set(ti?.taskId ?? "", message);
  });
  const mapping = {
    kind: "expand",
    lists: [{ name: "n", source: { kind: "xcom", taskId: "list", path: [] } }],
  } as const;
  await seedDag("dag", { list: {}, other: {}, each: { upstream: ["list"], mapping } }, { spec: { failFast: true } });
  await startScheduler();
  await trigger("dag");
  await until("both are at work", () => Promise.resolve(held.size === 2));
  const both = [held.get("list"), held.get("other")].filter((message) => message !== undefined);
  await db.run(finishAttempts, [
    both.map(({ id }) => id),
    both.map(({ epoch }) => epoch + 1),
    ["success", "failed"],
    [null, null],
    [both[0]?.id ?? ""],
    ["return_value"],
    ["[1, 2]"],
    [null, null],
  ]);
  const [run] = await db.read<{ id: number }>("select id from dag_run");
  on.broker.wake([{ dagRunId: run?.id ?? 0, taskIds: ["list", "other"] }]);
  await ended(1);
  expect(await states()).toEqual({ list: "success", other: "failed", each: "skipped" });
});
