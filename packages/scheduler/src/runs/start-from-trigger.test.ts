// Tasks that begin with a wait: what their triggers are given is encrypted by the scheduler, as workers do it for others.
import { Cipher, openKept, triggerPlace } from "@millrace/shared/secrets";
import { expect, test } from "vitest";
import { installation } from "../fixtures/installation.ts";

const KEY = "a key of thirty-two characters or more";
const { db, seedDag, startScheduler, trigger, until } = await installation({ "core.encryption_key": KEY });

test("what a task that begins with a wait gives its trigger is not to be read in the table, and opens for its attempt", async () => {
  const kwargs = { url: "https://example.test/c4n4ry" };
  await seedDag("dag", { a: { startTrigger: { trigger: { name: "millrace.http", kwargs }, onEvent: "end" } } });
  await startScheduler();
  await trigger("dag");
  const read = () =>
    db.read<{ id: string; kwargs: string }>(
      "select ti.id, t.kwargs from task_instance ti join trigger t on t.id = ti.trigger_id where ti.state = 'deferred'",
    );
  await until("the task waits", async () => (await read()).length === 1);
  const [row] = await read();
  expect(row?.kwargs).not.toContain("c4n4ry");
  expect(JSON.parse(openKept(new Cipher([KEY]), row?.kwargs ?? "", triggerPlace(row?.id ?? "", null)))).toEqual(kwargs);
});
