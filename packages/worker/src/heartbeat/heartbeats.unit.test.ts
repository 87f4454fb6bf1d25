import { createLogger } from "@millrace/shared/observability";
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
  const heartbeats = new Heartbeats(db, () => 7, 5, quiet);
  for (const id of ["mine", "gone", "resumed", "cleared", "marked"]) heartbeats.add(held(id));
  await heartbeats.beat();
  expect(stopped).toEqual(["gone lost", "resumed lost", "cleared asked", "marked asked"]);
});
