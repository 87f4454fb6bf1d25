// A checker that finds nothing is worth nothing: a small history that is right, and each invariant broken in it once.
import { expect, test } from "vitest";
import { check } from "./check.ts";
import type { Effect } from "./effects.ts";
import { CLOCK_CHANGES } from "./expected.ts";
import type { CallbackRow, Change, History, TaskRow } from "./history.ts";
import type { Evidence } from "./invariants.ts";

const RUN = { dagId: "chaos_chain", runId: "r" };
const KEY = "chaos_chain/r/first/-1/1";

const change = (epoch: number, from: string, to: string, more: Partial<Change> = {}): Change => ({
  ...{ rowId: 1, ...RUN, dagRunId: 1, taskId: "first", mapIndex: -1, epoch, attemptId: "a", from, to, tryNumber: 1 },
  ...{ actor: "millrace scheduler 1", at: epoch * 100, committed: epoch * 100_000 },
  ...more,
});
const effect = (event: Effect["event"], at: number, more: Partial<Effect> = {}): Effect => ({
  ...{ event, key: KEY, ...RUN, taskId: "first", pid: 7, at },
  ...more,
});
const task: TaskRow = {
  ...{ rowId: 1, ...RUN, taskId: "first", mapIndex: -1, state: "success", epoch: 4, tryNumber: 1, maxTries: 2 },
  ...{ infraFailures: 0, reason: null, value: KEY },
};
const callback: CallbackRow = {
  ...{ id: "c", ...RUN, taskId: null, tryNumber: 1, kind: "dagOnSuccess", state: "success", output: null },
};

interface Parts {
  readonly history: History;
  readonly lines: readonly Effect[];
  readonly evidence: Partial<Evidence>;
}

const right = (): Parts => ({
  history: {
    changes: [
      change(1, "none", "scheduled"),
      change(2, "scheduled", "queued"),
      change(3, "queued", "running", { actor: "millrace worker 2" }),
      change(4, "running", "success", { actor: "millrace worker 2" }),
    ],
    runChanges: [],
    tasks: [task],
    runs: [
      { id: 1, ...RUN, type: "manual", state: "success", logicalDate: null },
      ...Object.entries(CLOCK_CHANGES).flatMap(([dagId, dates]) =>
        dates.map((date, i) => ({
          ...{ id: i, dagId, runId: date, type: "scheduled", state: "success", logicalDate: Date.parse(`${date}Z`) },
        })),
      ),
    ],
    callbacks: [callback],
    losses: [],
    triggersLeft: 0,
    assetEvents: [],
    audits: [{ event: "trigger_dag_run", ...RUN }],
  },
  lines: [effect("start", 310), effect("end", 390), effect("callback", 500, { callbackKey: "c" })],
  evidence: { acknowledged: [{ ...RUN, key: "k" }] },
});

function brokenIn({ history, lines, evidence }: Parts): string[] {
  const of = (key: string) => lines.filter((line) => line.key === key);
  return check({
    ...{ history, effects: { lines, killed: new Map(), of }, acknowledged: [], operated: [], touched: new Set() },
    ...{
      deleted: new Set(),
      answers: new Map(),
      faults: [],
      outages: [],
      times: { lease: 2, detection: 0.5, late: 0 },
    },
    ...evidence,
  }).map((broken) => broken.invariant);
}

/** The history with some of its changes replaced, by their epochs. */
const changed = (parts: Parts, ...by: readonly Change[]): Parts => ({
  ...parts,
  history: {
    ...parts.history,
    changes: [...parts.history.changes.filter((one) => by.every((other) => other.epoch !== one.epoch)), ...by],
  },
});
const known = (parts: Parts, more: Partial<History>): Parts => ({ ...parts, history: { ...parts.history, ...more } });
const did = (parts: Parts, ...more: readonly Effect[]): Parts => ({ ...parts, lines: [...parts.lines, ...more] });
const loss = (text: string) => ({ ...RUN, taskId: "first", tryNumber: 1, at: 10_000, text });

test("nothing is found in a history that is right", () => {
  expect(brokenIn(right())).toEqual([]);
});

test.each<[string, (parts: Parts) => Parts]>([
  ["each attempt starts at most once", (p) => did(p, effect("start", 320, { pid: 8 }))],
  ["no effect without history", (p) => did(p, effect("start", 1, { key: "chaos_chain/r/first/-1/2" }))],
  ["epochs have no gap", (p) => known(p, { tasks: [{ ...task, epoch: 5 }] })],
  ["epochs have no gap", (p) => changed(p, change(2, "scheduled", "queued", { committed: 900_000 }))],
  ["only legal changes", (p) => changed(p, change(4, "running", "scheduled"))],
  ["a final result stays", (p) => changed(p, change(5, "success", "none"))],
  ["everything ended", (p) => known(p, { tasks: [{ ...task, state: "queued" }] })],
  ["everything ended", (p) => known(p, { triggersLeft: 1 })],
  ["successes are real, values are the winner's", (p) => ({ ...p, lines: [] })],
  ["successes are real, values are the winner's", (p) => known(p, { tasks: [{ ...task, value: `${KEY}2` }] })],
  [
    "stopped means stopped",
    (p) => changed(p, change(4, "shutdown", "failed", { actor: "millrace worker 2", at: 320 })),
  ],
  ["retries are the user's", (p) => known(p, { tasks: [{ ...task, state: "failed", value: null }] })],
  ["callbacks exactly once a cause", (p) => known(p, { callbacks: [{ ...callback, state: "pending" }] })],
  ["callbacks exactly once a cause", (p) => known(p, { callbacks: [] })],
  ["what was acknowledged is there", (p) => ({ ...p, evidence: { acknowledged: [{ ...RUN, runId: "s", key: "l" }] } })],
  ["what was acknowledged is in the audit log", (p) => known(p, { audits: [] })],
  [
    "what was acknowledged is in the audit log",
    (p) => known(p, { audits: [...p.history.audits, ...p.history.audits] }),
  ],
  [
    "what was acknowledged is in the audit log",
    (p) => ({ ...p, evidence: { operated: [{ event: "mark run failed", ...RUN }] } }),
  ],
  ["every slot of the schedule once", (p) => known(p, { runs: p.history.runs.slice(0, -1) })],
  ["losses are found in time", (p) => known(p, { losses: [loss("no heartbeat from host for 3.6 s; it runs again")] })],
  ["what is lost is killed", (p) => did(changed(p, change(4, "running", "up_for_retry")), effect("tick", 400 + 2_100))],
  [
    "limits hold",
    (p) =>
      known(p, {
        runChanges: Array.from({ length: 7 }, (_, i) => ({
          ...{ dagRunId: i, dagId: "chaos_chain", from: "queued", to: "running", actor: "millrace", committed: i },
        })),
      }),
  ],
  ["dependencies hold", (p) => changed(p, change(9, "none", "scheduled", { rowId: 2, taskId: "last" }))],
])("it finds it when this is broken: %s", (invariant, breaks) => {
  expect(brokenIn(breaks(right()))).toContain(invariant);
});

test("a loss that was found in time is none that was found late", () => {
  expect(brokenIn(known(right(), { losses: [loss("no heartbeat from host for 3.4 s; it runs again")] }))).toEqual([]);
});

test("a loss that was found late because a scheduler had no answer of Postgres is none that was found late", () => {
  const late = known(right(), { losses: [loss("no heartbeat from host for 6.1 s; it runs again")] });
  expect(brokenIn({ ...late, evidence: { ...late.evidence, outages: [8_000 - 3_600_000] } })).toEqual([]);
  expect(brokenIn({ ...late, evidence: { ...late.evidence, outages: [1_000] } })).toEqual(["losses are found in time"]);
});
