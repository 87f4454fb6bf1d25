import { allStatements } from "@millrace/shared/db";
import { describe, expect, test } from "vitest";
import { instant, waiting } from "../engine/statement.ts";
import { statements, type Statements } from "../engine/statements.ts";
import { playSeeds } from "./play-seeds.ts";

test.each([1, 101, 201, 301])("every run of the 100 histories from seed %i on ends, and no rule is broken", (first) => {
  const failed = playSeeds(first, 100);
  expect(
    failed,
    failed === undefined ? "" : `seed ${failed.seed}: ${failed.message}\n${failed.trace.join("\n")}`,
  ).toBeUndefined();
});

test("the store's statements make the edges that those of the database declare", () => {
  const declared = new Map(allStatements().map((one) => [one.name, one.transitions]));
  for (const one of Object.values(statements)) {
    const edges = declared.get(one.statement);
    expect(edges, one.statement).toBeDefined();
    // A statement may be used for some of its edges only; it must not make others.
    expect(edges, one.statement).toEqual(expect.arrayContaining([...one.transitions]));
  }
});

describe("a planted bug is caught", () => {
  const bugs: readonly [string, Partial<Statements>, RegExp][] = [
    [
      "limits are read outside of the lock",
      { lockCriticalSection: waiting("lock-critical-section", [], function* () {}) },
      /at most|are taken/,
    ],
    [
      "lost messages are not sent again",
      { redispatchAttempts: instant("redispatch-attempts", [], () => []) },
      /for ever|runs instead/,
    ],
    [
      "lost wakes are not swept up",
      { lockRunsToSweep: instant("lock-runs-to-sweep", [], () => []) },
      /for ever|runs instead/,
    ],
    [
      "lost workers are not looked for",
      { lockLostAttempts: instant("lock-lost-attempts", [], () => []) },
      /for ever|runs instead/,
    ],
    [
      "an end is written whoever has the attempt now",
      {
        finishAttempts: instant("finish-attempts", [], (tx, ends) => {
          const rows = ends.flatMap((end) => tx.store.attempts.get(end.id) ?? []);
          const free = rows.filter((row) => tx.read(row).state === "running" && tx.tryLock(row));
          for (const row of free) tx.writeTask(row, (after) => void (after.state = "success"));
          return free;
        }),
      },
      /takes epoch/,
    ],
    [
      "a claim is made of what is not queued",
      {
        claimAttempts: instant("claim-attempts", [], (tx, keys, worker) => {
          const rows = keys.flatMap((key) => tx.store.attempts.get(key.id) ?? []).filter((row) => tx.tryLock(row));
          for (const row of rows) {
            tx.writeTask(row, (after) => {
              if (after.state !== "running") after.epoch++;
              after.state = "running";
              after.token = keys[0]?.token;
              after.heartbeat = tx.now;
              after.worker = worker;
            });
          }
          return rows;
        }),
      },
      /starts twice|cannot become|stale/,
    ],
  ];
  test.each(bugs)("%s", (_what, broken, message) => {
    const failed = playSeeds(1, 3_000, { statements: broken });
    expect(failed?.message).toMatch(message);
    expect(failed?.trace).not.toEqual([]);
  });
});

test("a seed is a history: played again it is the same", () => {
  const broken: Partial<Statements> = { lockLostAttempts: instant("lock-lost-attempts", [], () => []) };
  expect(playSeeds(1, 3_000, { statements: broken })).toEqual(playSeeds(1, 3_000, { statements: broken }));
});
