// A long mapped task rests between two looks, and asks for the next by itself: nothing else comes then, no wake and no tick.
import { finishAttempts } from "@millrace/shared/db";
import type { AttemptMessage } from "@millrace/shared/queue";
import { expect, test } from "vitest";
import { installation } from "./fixtures/installation.ts";

const system = await installation({
  "scheduler.scheduler_idle_sleep_time": 60,
  "scheduler.sweep_interval": 120,
  "scheduler.task_instance_heartbeat_timeout": 60,
});
const { db } = system;

async function handle(message: AttemptMessage): Promise<void> {
  if (!(await system.claim(message))) return;
  const [ti] = await db.read<{ taskId: string; dagRunId: number }>(
    `select task_id as "taskId", dag_run_id as "dagRunId" from task_instance where id = $1`,
    [message.id],
  );
  if (ti === undefined) return;
  await db.run(finishAttempts, [[message.id], [message.epoch + 1], ["success"], [null], [], [], [], [null]]);
  system.broker.wake([{ dagRunId: ti.dagRunId, taskIds: [ti.taskId] }]);
}

test("what follows it is queued by the look that finds all of it ended", async () => {
  system.onMessage(handle);
  const values = Array.from({ length: 600 }, (_, n) => n);
  await system.seedDag("dag", {
    each: { mapping: { kind: "expand", lists: [{ name: "n", source: { kind: "literal", values } }] } },
    after: { upstream: ["each"] },
  });
  await system.startScheduler();
  await system.trigger("dag");
  await system.until("the end of what follows", async () => {
    return (await system.count(`task_instance where task_id = 'after' and state = 'success'`)) === 1;
  });
  expect(await system.count(`task_instance where state = 'success'`)).toBe(601);
});
