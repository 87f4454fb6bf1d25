import { createLogger } from "@millrace/shared/observability";
import { fakeClock } from "@millrace/testkit";
import { expect, test } from "vitest";
import { scriptedDatabase } from "../fixtures/scripted-database.ts";
import { Heartbeats, type HeldAttempt } from "./heartbeats.ts";

const quiet = createLogger({ level: "silent", name: "test" });

test("an attempt that the answer does not name any more, or names under another epoch, is stopped as lost", async () => {
  const stopped: string[] = [];
  const held = (id: string): HeldAttempt => ({
    id,
    epoch: 2,
    stop: (_why, kind) => void stopped.push(`${id} ${kind}`),
  });
  const { db } = scriptedDatabase(() => [
    { id: "mine", epoch: 2, state: "running" },
    { id: "resumed", epoch: 4, state: "running" },
    { id: "cleared", epoch: 3, state: "restarting" },
    { id: "marked", epoch: 3, state: "shutdown" },
  ]);
  const heartbeats = new Heartbeats({ db, workerJobId: () => 7, everySeconds: 5, leaseSeconds: 30, log: quiet });
  for (const id of ["mine", "gone", "resumed", "cleared", "marked"]) heartbeats.add(held(id));
  await heartbeats.beat();
  expect(stopped).toEqual(["gone lost", "resumed lost", "cleared asked", "marked asked"]);
});

test("an attempt is stopped when its lease is over without an answer, counted from the last one that was answered", async () => {
  const clock = fakeClock();
  let isAway = false;
  const { db } = scriptedDatabase(() =>
    isAway ? new Promise(() => undefined) : [{ id: "a", epoch: 2, state: "running", isProven: true }],
  );
  const heartbeats = new Heartbeats({ db, workerJobId: () => 7, everySeconds: 5, leaseSeconds: 30, log: quiet, clock });
  const stopped: string[] = [];
  const held = { id: "a", epoch: 2, stop: (why: string, kind: string) => void stopped.push(`${kind}: ${why}`) };
  heartbeats.add(held);
  await heartbeats.start();
  await clock.advance(5_000);
  isAway = true;
  await clock.advance(29_900);
  expect(stopped).toEqual([]);
  await clock.advance(1_000);
  expect(stopped[0]).toBe("lost: the database did not take a heartbeat for 30 s: another worker may have the task");
});
