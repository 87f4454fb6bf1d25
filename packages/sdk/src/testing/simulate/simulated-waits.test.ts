// Tasks that wait without a worker, and schedules that are code, on the virtual clock.
import { describe, expect, test } from "vitest";
import { Dag, deferrable, hitl } from "../../index.ts";
import { sensor } from "../../sensors/index.ts";
import { after, defineTrigger } from "../../triggers/index.ts";
import type { OutcomeRule, SimulateOptions } from "./options.ts";
import type { SimulatedTask } from "./result.ts";
import { simulate } from "./simulate.ts";

const FROM = "2026-01-01T00:00:00Z";
const time = (date: Date | null) => date?.toISOString().slice(11, 19) ?? null;
const triesOf = (task: SimulatedTask | undefined) =>
  task?.tries.map((one) => [one.tryNumber, one.state, time(one.startDate), time(one.endDate)]);
const waitsOf = (task: SimulatedTask | undefined) =>
  task?.waits.map((one) => [one.state, time(one.startDate), time(one.endDate)]);

/** One run of a DAG with the task `waits`, and the task `next` after it. */
function play(body: unknown, options: { task?: object; outcome?: OutcomeRule } & Partial<SimulateOptions> = {}) {
  const dag = new Dag("waits");
  const { task = {}, outcome, ...rest } = options;
  const waits = (dag.task as (id: string, body: unknown, options: object) => () => unknown)("waits", body, task)();
  dag
    .task("next", () => 1)()
    .after(waits as never);
  const outcomes = outcome === undefined ? {} : { outcomes: { waits: outcome } };
  const result = simulate(dag, { from: FROM, until: "2026-01-02", triggers: [FROM], ...outcomes, ...rest });
  const [waited, next] = result.runs[0]?.tasks ?? [];
  return { ...result, run: result.runs[0], waited, next };
}

const halves = deferrable({ start: () => after(60), resume: () => 1 });
const mine = defineTrigger({ name: "mine", run: () => 1 });

describe("a task that is deferred", () => {
  test("runs, waits without a worker, and runs again in the same try", () => {
    const { waited, next, summary } = play(halves, { outcome: { duration: 5, wait: 600 } });
    expect(triesOf(waited)).toEqual([[1, "success", "00:00:00", "00:10:10"]]);
    expect(waitsOf(waited)).toEqual([["deferred", "00:00:05", "00:10:05"]]);
    expect(time(next?.startDate ?? null)).toBe("00:10:10");
    expect(summary).toMatchObject({ tries: 2, peak: { tasks: 1 } });
  });

  test("holds no slot of its workers while it waits", () => {
    const dag = new Dag("slots");
    dag.task("a", halves)();
    dag.task("b", halves)();
    const { runs } = simulate(dag, {
      ...{ from: FROM, until: "2026-01-02", triggers: [FROM] },
      outcomes: { "*": { wait: 600 } },
      limits: { workerSlots: 1 },
    });
    expect(runs[0]?.tasks.map((task) => time(task.startDate))).toEqual(["00:00:00", "00:00:01"]);
    expect(time(runs[0]?.endDate ?? null)).toBe("00:10:03");
  });

  test("fails when its event does not come, and tries again if it may", () => {
    const { waited } = play(halves, {
      task: { retries: 1, retryDelay: 60 },
      outcome: ({ tryNumber }) => ({ wait: { seconds: 100, end: tryNumber === 1 ? "timeout" : "event" } }),
    });
    expect(triesOf(waited)).toEqual([
      [1, "failed", "00:00:00", "00:01:42"],
      [2, "success", "00:02:42", "00:04:24"],
    ]);
    expect(waited?.tries[0]?.reason).toBe("it had not what it waits for within 100 s");
  });

  test("is over with its run, whatever it waits for", () => {
    const dag = new Dag("late", { dagrunTimeout: 60 });
    dag.task("waits", halves)();
    const { runs } = simulate(dag, {
      ...{ from: FROM, until: "2026-01-02", triggers: [FROM] },
      outcomes: { waits: { wait: 600 } },
    });
    expect(runs[0]).toMatchObject({ state: "failed", reason: "timed_out" });
    expect(waitsOf(runs[0]?.tasks[0])).toEqual([["deferred", "00:00:01", "00:01:00"]]);
    expect(runs[0]?.tasks[0]?.state).toBe("skipped");
  });
});

describe("a task that begins with its trigger", () => {
  test("waits as long as a trigger of time says, and is in no worker before and after", () => {
    const { waited, next } = play(deferrable({ trigger: after(900) }));
    expect(triesOf(waited)).toEqual([[1, "success", "00:00:00", "00:15:00"]]);
    expect(waitsOf(waited)).toEqual([["deferred", "00:00:00", "00:15:00"]]);
    expect(time(next?.startDate ?? null)).toBe("00:15:00");
  });

  test("waits a minute for any other, and a worker has its second half", () => {
    const { waited } = play(deferrable({ trigger: mine(), resume: () => 1 }), { outcome: { duration: 10 } });
    expect(triesOf(waited)).toEqual([[1, "success", "00:00:00", "00:01:10"]]);
  });

  test("fails after its own timeout, in a worker, and counts as a try", () => {
    const { waited } = play(deferrable({ trigger: mine(), timeout: 30 }), {
      task: { retries: 1, retryDelay: 10 },
    });
    expect(triesOf(waited)).toEqual([
      [1, "failed", "00:00:00", "00:00:31"],
      [2, "failed", "00:00:41", "00:01:12"],
    ]);
    expect(waited?.state).toBe("failed");
  });

  test("may fail with its event, and is retried without a worker", () => {
    const { waited } = play(deferrable({ trigger: after(30) }), {
      task: { retries: 1, retryDelay: 10 },
      outcome: ({ tryNumber }) => (tryNumber === 1 ? "failed" : "success"),
    });
    expect(triesOf(waited)).toEqual([
      [1, "failed", "00:00:00", "00:00:30"],
      [2, "success", "00:00:40", "00:01:10"],
    ]);
  });
});

describe("a sensor", () => {
  const poked = sensor({ poke: () => true, mode: "reschedule" });

  test("that reschedules pokes until its time has come, in one try", () => {
    const { waited } = play(poked, {
      outcome: { duration: 2, wait: { seconds: 100, mode: "reschedule", pokeInterval: 40 } },
    });
    expect(triesOf(waited)).toEqual([[1, "success", "00:00:00", "00:02:08"]]);
    expect(waitsOf(waited)).toEqual([
      ["up_for_reschedule", "00:00:02", "00:00:42"],
      ["up_for_reschedule", "00:00:44", "00:01:24"],
      ["up_for_reschedule", "00:01:26", "00:02:06"],
    ]);
  });

  test("can time out", () => {
    const { waited, next } = play(poked, { outcome: { wait: { seconds: 100, mode: "reschedule", end: "timeout" } } });
    expect(waited).toMatchObject({ state: "failed", reason: "it had not what it waits for within 100 s" });
    expect(next?.state).toBe("upstream_failed");
  });
});

test("a question is answered after a minute, unless it is said otherwise", () => {
  const question = hitl({ subject: "Go?", options: ["yes"] });
  expect(waitsOf(play(question).waited)).toEqual([["deferred", "00:00:01", "00:01:01"]]);
  expect(waitsOf(play(question, { outcome: { wait: 3600 } }).waited)).toEqual([["deferred", "00:00:01", "01:00:01"]]);
  const nobody = play(question, { outcome: { wait: { seconds: 3600, end: "timeout" } } });
  expect(nobody.waited?.state).toBe("failed");
});

test("a timeline shows waits as dots", () => {
  const { timeline } = play(halves, { outcome: { duration: 10, wait: 60 } });
  expect(timeline({ width: 90 }).split("\n")[2]).toMatch(/waits +█+·+█+/);
});

test.each<[OutcomeRule, string]>([
  [{ wait: -1 }, "a wait of -1 s is not possible"],
  [{ wait: { seconds: 1, pokeInterval: 0 } }, "a pokeInterval of 0 s is not possible"],
  [{ wait: { seconds: 1, mode: "poke" as "deferred" } }, "poke is no mode of a wait"],
  [{ wait: { seconds: 1, end: "never" as "event" } }, "never is no end of a wait"],
])("a wait that is not possible is refused (%#)", (outcome, message) => {
  expect(() => play(halves, { outcome })).toThrow(message);
});

describe("a timetable of one's own", () => {
  const HOUR = 3_600_000;
  const from = new Date(FROM);
  const everyOther = (limit = Infinity) => ({
    name: "every-other-hour",
    next({ last, earliest, now }: { last?: { end: Date } | undefined; earliest: Date | undefined; now: Date }) {
      const start = last === undefined ? (earliest ?? now) : new Date(last.end.getTime() + HOUR);
      if (start.getTime() >= limit) throw new Error("no calendar");
      return { start, end: new Date(start.getTime() + HOUR) };
    },
  });

  test("is asked in this process, for as many runs as there are", () => {
    const dag = new Dag("own", { schedule: everyOther(), startDate: from, catchup: true });
    dag.task("a", () => 1)();
    const { runs } = simulate(dag, { from: FROM, until: new Date(from.getTime() + 4_000 * HOUR) });
    expect(runs).toHaveLength(2_000);
    expect(runs.slice(0, 3).map((run) => time(run.startDate))).toEqual(["01:00:00", "03:00:00", "05:00:00"]);
    expect(new Set(runs.map((run) => run.runId)).size).toBe(2_000);
  });

  test("that throws is told, with what it said", () => {
    const dag = new Dag("own", { schedule: everyOther(from.getTime()), startDate: from, catchup: true });
    dag.task("a", () => 1)();
    expect(() => simulate(dag, { from: FROM, until: "2026-01-02" })).toThrow("no calendar");
  });

  test("cannot be asked where only the spec is given", () => {
    const dag = new Dag("own", { schedule: everyOther(), startDate: from, catchup: true });
    dag.task("a", () => 1)();
    expect(() => simulate(dag.spec(), { from: FROM, until: "2026-01-02" })).toThrow("give simulate() the DAG itself");
  });
});
