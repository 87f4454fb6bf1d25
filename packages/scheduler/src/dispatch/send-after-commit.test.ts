import { expect, test } from "vitest";
import { installation } from "../fixtures/installation.ts";

const on = await installation();

test("a message is sent only when everybody can see its attempt queued", async () => {
  await on.seedDag("dag", { a: {}, b: { upstream: ["a"] }, c: {} });
  const seen: unknown[] = [];
  on.onMessage(async (message) => {
    const [row] = await on.db.read<{ state: string; epoch: number }>(
      "select state, epoch from task_instance where id = $1",
      [message.id],
    );
    seen.push([row?.state, row?.epoch === message.epoch]);
    await on.work(message);
  });
  await on.startScheduler();
  await on.trigger("dag");
  await on.until("the run has ended", async () => (await on.count("dag_run where state = 'success'")) === 1);
  expect(seen).toEqual([
    ["queued", true],
    ["queued", true],
    ["queued", true],
  ]);
});
