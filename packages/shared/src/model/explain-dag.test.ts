import type { AssetConditionSpec, ScheduleSpec } from "@millrace/sdk/spec";
import { describe, expect, test } from "vitest";
import { describeCondition } from "./conditions.ts";
import { explainDag, type AwaitedAsset, type DagSituation } from "./explain-dag.ts";

const T = Date.UTC(2026, 4, 17);
const use = (name: string) => ({ asset: { name, uri: name } });
const awaited = (name: string, given: Partial<AwaitedAsset> = {}): AwaitedAsset => ({
  name,
  uri: name,
  aliases: [],
  isActive: true,
  since: null,
  lastEvent: null,
  producers: [],
  watchers: [],
  ...given,
});
const situation = (schedule: ScheduleSpec, given: Partial<DagSituation> = {}): DagSituation => ({
  now: T,
  schedulers: { live: 1, lastSeen: T },
  isPaused: false,
  isStale: false,
  hasImportErrors: false,
  maxActiveRuns: 2,
  active: [],
  nextRunAt: null,
  schedule,
  scheduleError: null,
  assets: [],
  keys: [],
  ...given,
});
const texts = (s: DagSituation) => explainDag(s).map(describeCondition);
const onAssets = (assets: AssetConditionSpec): ScheduleSpec => ({ kind: "assets", assets });

describe("a DAG that waits for assets", () => {
  const schedule = onAssets({ all: [use("a"), { any: [use("b"), { alias: { name: "files", group: "asset" } }] }] });

  test("names the parts that are missing, each with its last event and who updates it", () => {
    const a = awaited("a", { since: T });
    const b = awaited("b", {
      lastEvent: { at: T, partitionKey: null, runId: "before" },
      producers: [{ dagId: "etl", taskId: "load", isPaused: true }],
      watchers: ["inbox"],
    });
    expect(texts(situation(schedule, { assets: [a, b] }))).toEqual([
      "it waits for a and (b or files)",
      "a has come: an event waits since 2026-05-17T00:00:00Z",
      "b is missing: its last event, at 2026-05-17T00:00:00Z, is in run before; it is updated by etl.load (paused) and watched by inbox",
      "alias files is missing: no task has said yet what it stands for; tasks that have it as an outlet say so",
    ]);
  });

  test("is told of a name that no DAG declares, and of events that were not for it", () => {
    const stranger = onAssets({ ref: { name: "nowhere" } });
    expect(texts(situation(stranger))[1]).toMatch(
      /^nowhere is missing: no DAG declares such an asset, so that nothing updates it$/,
    );
    const keyed = awaited("a", { lastEvent: { at: T, partitionKey: "may", runId: null } });
    expect(texts(situation(onAssets(use("a")), { assets: [keyed] }))[1]).toContain(
      "has partition key may, and the DAG does not run by key",
    );
    const missed = awaited("a", { lastEvent: { at: T, partitionKey: null, runId: null } });
    expect(texts(situation(onAssets(use("a")), { assets: [missed] }))[1]).toContain(
      "was not for this DAG, which was paused",
    );
  });

  test("that has all gets a run, unless it is paused, full, unread, gone, or no scheduler lives", () => {
    const assets = [awaited("a", { since: T })];
    const of = (given: Partial<DagSituation>) =>
      explainDag(situation(onAssets(use("a")), { assets, ...given })).map(({ kind }) => kind);
    expect(of({})).toEqual(["assets_have_come", "asset_has_come", "dag_gets_run"]);
    for (const [kind, given] of [
      ["dag_paused", { isPaused: true }],
      ["dag_gone", { isStale: true }],
      ["dag_unreadable", { hasImportErrors: true }],
      ["dag_is_full", { active: ["r1", "r2"] }],
      ["no_live_scheduler", { schedulers: { live: 0, lastSeen: null } }],
    ] as const) {
      expect(of(given)).toEqual([kind, "assets_have_come", "asset_has_come"]);
    }
    expect(texts(situation(onAssets(use("a")), { assets, active: ["r1", "r2"] }))[0]).toBe(
      "maxActiveRuns is used up: 2 of 2 are queued or running (r1, r2); what comes meanwhile is kept",
    );
  });
});

test("a DAG that runs by key tells what each key waits for", () => {
  const partition = { mapper: { kind: "identity" } as const, mappers: [] };
  const schedule: ScheduleSpec = { kind: "assets", assets: { all: [use("a"), use("b")] }, partition };
  const [a, b] = [awaited("a"), awaited("b")];
  const keys = [
    { key: "may", since: T, present: [a] },
    { key: "june", since: T, present: [a, b] },
  ];
  expect(texts(situation(schedule, { keys }))).toEqual([
    "key may, for which something came at 2026-05-17T00:00:00Z, waits for b",
    "all that key june waits for has come",
    "nothing holds it: it gets a run with the scheduler's next pass",
  ]);
  const keyless = awaited("a", { lastEvent: { at: T, partitionKey: null, runId: null } });
  expect(texts(situation(schedule, { assets: [keyless, b] }))).toEqual([
    "it waits for a and b",
    expect.stringContaining("has no partition key, and the DAG runs by key"),
    expect.stringContaining("b is missing: it never had an event"),
  ]);
});

test("a DAG that runs by time says when, or that it never does, or why its schedule fails", () => {
  const cron = { kind: "cron", cron: "0 6 * * *", timezone: "UTC", dst: { gap: "shift", fold: "first" } } as const;
  expect(texts(situation(cron, { nextRunAt: T }))).toEqual(["its next run is due at 2026-05-17T00:00:00Z"]);
  expect(texts(situation(cron))).toEqual(["its schedule has no further run"]);
  expect(texts(situation({ kind: "none" }))).toEqual(["it has no schedule: it runs when it is triggered"]);
  expect(texts(situation(cron, { scheduleError: "no such day", nextRunAt: T }))[0]).toBe(
    "its schedule fails: no such day",
  );
  const either: ScheduleSpec = { kind: "assetOrTime", time: cron, assets: use("a") };
  expect(explainDag(situation(either, { nextRunAt: T, assets: [awaited("a")] })).map(({ kind }) => kind)).toEqual([
    "next_run",
    "assets_awaited",
    "asset_awaited",
  ]);
});
