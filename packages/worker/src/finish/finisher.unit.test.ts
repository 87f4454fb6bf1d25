import type { ClaimedAttempt } from "@millrace/shared/db";
import { createLogger } from "@millrace/shared/observability";
import type { Broker, Wake } from "@millrace/shared/queue";
import { expect, test, vi } from "vitest";
import { scriptedDatabase } from "../fixtures/scripted-database.ts";
import { Finisher } from "./finisher.ts";

const quiet = createLogger({ level: "silent", name: "test" });
const attempt = { id: "a", epoch: 3, dagRunId: 9, taskId: "t" } as unknown as ClaimedAttempt; // All that an end needs.

test.each([
  ["stands, and the scheduler hears of it", { isHistory: false, state: "success", epoch: 4 }, true],
  ["is stale when somebody else ended the attempt", { isHistory: false, state: "failed", epoch: 4 }, false],
])("an end whose answer was lost %s", async (_what, row, stands) => {
  vi.useFakeTimers();
  let writes = 0;
  const { db } = scriptedDatabase((name) => {
    if (name !== "finish-attempts") return [row];
    if (++writes === 1) throw new Error("Connection terminated unexpectedly");
    return [];
  });
  const wakes: Wake[] = [];
  // Nothing else of it is used here.
  const broker = { wake: (more: readonly Wake[]) => void wakes.push(...more) } as unknown as Broker;
  const finished = new Finisher(db, broker, quiet).finish(attempt, { kind: "final", state: "success" });
  await vi.runAllTimersAsync();
  expect(await finished).toBe(stands);
  expect(wakes).toEqual(stands ? [{ dagRunId: 9, taskIds: ["t"] }] : []);
  vi.useRealTimers();
});
