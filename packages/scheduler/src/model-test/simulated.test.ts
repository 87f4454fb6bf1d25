// `simulate` promises that a DAG ends in it as it ends in production: the same DAGs, with the same outcomes of their tries,
// through both. Orders are compared within a run, where priorities leave no choice: no more than one task is under way,
// and whatever becomes ready comes after what is ready already.
import type { DagSpec, TaskSpec } from "@millrace/sdk/spec";
import { simulate, type SimulatedOutcome } from "@millrace/sdk/testing";
import { confirmStopped, finishAttempts, newId, retryAttempts, setPointers } from "@millrace/shared/db";
import { hasTryLeft, pointerFor } from "@millrace/shared/model";
import type { AttemptMessage } from "@millrace/shared/queue";
import { expect, test } from "vitest";
import { installation } from "../fixtures/installation.ts";

const on = await installation();
const { db } = on;

const HOUR = 3_600_000;
const FIRST = Date.parse("2026-01-01T00:00:00Z");

interface Scenario {
  readonly tasks: Readonly<Record<string, Partial<TaskSpec>>>;
  readonly runs: number;
  readonly maxActiveRuns?: number;
  readonly spec?: Partial<DagSpec>;
  /** By `task@run#try`, `task#try` or `task`, runs counted from 0; whatever is not named succeeds. */
  readonly outcomes?: Readonly<Record<string, "failed" | "skipped" | "hangs" | { readonly follow: readonly string[] }>>;
  /** The run whose end is the last thing that happens, where not all end. */
  readonly stuckRuns?: number;
}

const outcomeOf = ({ outcomes = {} }: Scenario, taskId: string, run: number, tryNumber: number) =>
  outcomes[`${taskId}@${run}#${tryNumber}`] ?? outcomes[`${taskId}#${tryNumber}`] ?? outcomes[taskId] ?? "success";

interface Ended {
  readonly runs: readonly {
    readonly state: string;
    readonly reason: string | null;
    readonly tasks: Readonly<Record<string, string>>;
    /** Tries in the order of their ends. */
    readonly ends: readonly string[];
  }[];
}

const numberOf = (logicalDate: Date | null): number => ((logicalDate?.getTime() ?? 0) - FIRST) / HOUR;

function specOf({ spec, runs }: Scenario): Partial<DagSpec> {
  return {
    schedule: { kind: "delta", seconds: HOUR / 1000 },
    catchup: true,
    startDate: new Date(FIRST).toISOString(),
    endDate: new Date(FIRST + (runs - 1) * HOUR).toISOString(),
    ...spec,
  };
}

const LIMITS = (scenario: Scenario) => ({ maxActiveTasks: 1, maxActiveRuns: scenario.maxActiveRuns ?? 16 });

async function simulated(scenario: Scenario, spec: DagSpec): Promise<Ended> {
  const { runs } = simulate(spec, {
    from: "2026-06-01T00:00:00Z",
    until: "2026-06-02T00:00:00Z",
    limits: LIMITS(scenario),
    outcomes: {
      "*": ({ taskId, tryNumber, logicalDate }): SimulatedOutcome => {
        const outcome = outcomeOf(scenario, taskId, numberOf(logicalDate), tryNumber);
        if (typeof outcome === "object") return { ...outcome, duration: 0.001 };
        return outcome === "hangs" ? { duration: 86_400 } : { state: outcome, duration: 0.001 };
      },
    },
  });
  return await Promise.resolve({
    runs: runs.map((run) => ({
      state: run.state,
      reason: run.reason,
      tasks: Object.fromEntries(run.tasks.map((task) => [task.taskId, `${task.state} ${task.tryNumber}`])),
      ends: run.tasks
        .flatMap((task) => task.tries.map((one) => ({ ...one, name: `${task.taskId}#${one.tryNumber} ${one.state}` })))
        .toSorted((a, b) => a.endDate.getTime() - b.endDate.getTime())
        .map((one) => one.name),
    })),
  });
}

interface Attempt {
  readonly taskId: string;
  readonly dagRunId: number;
  readonly logicalDate: Date;
  readonly tryNumber: number;
  readonly maxTries: number;
}

async function scheduled(scenario: Scenario, spec: DagSpec): Promise<Ended> {
  const ends: [run: number, end: string][] = [];
  const told = (one: Attempt, state: string) => {
    ends.push([numberOf(one.logicalDate), `${one.taskId}#${one.tryNumber} ${state}`]);
    on.broker.wake([{ dagRunId: one.dagRunId, taskIds: [one.taskId] }]);
  };
  const handle = async (message: AttemptMessage): Promise<void> => {
    if (!(await on.claim(message))) return;
    const [attempt] = await db.read<Attempt>(
      `select task_id as "taskId", dag_run_id as "dagRunId", r.logical_date as "logicalDate",
        try_number as "tryNumber", max_tries as "maxTries"
       from task_instance ti join dag_run r on r.id = ti.dag_run_id where ti.id = $1`,
      [message.id],
    );
    if (attempt === undefined) throw new Error("it is claimed");
    const { taskId, tryNumber, maxTries } = attempt;
    const key = [[message.id], [message.epoch + 1]] as const;
    const outcome = outcomeOf(scenario, taskId, numberOf(attempt.logicalDate), tryNumber);
    if (outcome === "hangs") {
      await db.read("update dag_run set start_date = start_date - interval '2 hours' where id = $1", [
        attempt.dagRunId,
      ]);
      await on.until("it is to stop", async () => (await on.count("task_instance where state = 'shutdown'")) === 1);
      await db.run(confirmStopped, [[message.id], [message.epoch + 2], [newId()], [0]]);
      told(attempt, "failed");
    } else if (outcome === "failed" && hasTryLeft({ tryNumber, maxTries, retryable: true })) {
      await db.run(retryAttempts, [...key, [newId()], [0], [false], [false], ["failed"]]);
      told(attempt, "failed");
    } else {
      const state = typeof outcome === "object" ? "success" : outcome;
      const branch = typeof outcome === "object" ? JSON.stringify({ kind: "follow", taskIds: outcome.follow }) : null;
      await db.run(finishAttempts, [...key, [state], [branch], [], [], [], [null]]);
      told(attempt, state);
    }
  };
  on.onMessage(handle);
  const first = pointerFor(spec, undefined, Date.now());
  if (first === undefined) throw new Error("it has runs");
  const date = (at: number) => [new Date(at)];
  await db.run(setPointers, [
    [spec.dagId],
    date(first.logicalDate),
    date(first.interval.start),
    date(first.interval.end),
    date(first.runAfter),
  ]);
  await on.startScheduler();
  const over = scenario.runs - (scenario.stuckRuns ?? 0);
  await on.until("the runs are over", async () => {
    const ended = await on.count("dag_run where state in ('success', 'failed')");
    const open = await on.count("task_instance where state in ('scheduled', 'queued', 'running', 'shutdown')");
    return ended >= over && open === 0;
  });
  const runs = await db.read<{ id: number; state: string; reason: string | null; date: Date }>(
    `select id, state, state_reason as reason, logical_date as date from dag_run order by logical_date`,
  );
  const tasks = await db.read<{ run: number; task: string; now: string }>(
    `select dag_run_id as run, task_id as task, coalesce(state, 'none') || ' ' || try_number as now
     from task_instance order by task_id`,
  );
  return {
    runs: runs.map(({ id, state, reason, date }) => ({
      state,
      reason,
      tasks: Object.fromEntries(tasks.filter(({ run }) => run === id).map(({ task, now }) => [task, now])),
      ends: ends.filter(([run]) => run === numberOf(date)).map(([, end]) => end),
    })),
  };
}

const weighted = (priorityWeight: number, upstream: readonly string[] = [], more: Partial<TaskSpec> = {}) =>
  ({ priorityWeight, weightRule: "absolute", upstream, ...more }) as const;

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  "a chain with retries": {
    tasks: {
      a: weighted(9, [], { retries: 2 }),
      b: weighted(8, ["a"], { retries: 1 }),
      c: weighted(7, ["b"]),
    },
    runs: 3,
    outcomes: {
      "a@0#1": "failed",
      "a@0#2": "failed",
      "b@1": "failed",
      "b@1#1": "failed",
      "b@1#2": "failed",
      "c@2#1": "skipped",
    },
  },
  branches: {
    tasks: {
      choose: weighted(9, [], { branch: "branch" }),
      left: weighted(8, ["choose"]),
      right: weighted(7, ["choose"]),
      join: weighted(6, ["left", "right"], { triggerRule: "none_failed_min_one_success" }),
    },
    runs: 3,
    outcomes: {
      "choose@0#1": { follow: ["left"] },
      "choose@1#1": { follow: ["right"] },
      "choose@2#1": { follow: [] },
    },
  },
  "trigger rules": {
    tasks: {
      bad: weighted(20),
      good: weighted(19),
      skips: weighted(18),
      all_success: weighted(9, ["bad", "good"]),
      all_failed: weighted(8, ["bad"], { triggerRule: "all_failed" }),
      all_done: weighted(7, ["bad", "good", "skips"], { triggerRule: "all_done" }),
      one_failed: weighted(6, ["bad", "good", "skips"], { triggerRule: "one_failed" }),
      one_success: weighted(5, ["bad", "good", "skips"], { triggerRule: "one_success" }),
      none_failed: weighted(4, ["good", "skips"], { triggerRule: "none_failed" }),
      none_skipped: weighted(3, ["good", "skips"], { triggerRule: "none_skipped" }),
      always: weighted(2, ["bad"], { triggerRule: "always" }),
      after: weighted(1, ["all_success", "all_done"], { triggerRule: "all_done" }),
    },
    runs: 1,
    outcomes: { bad: "failed", skips: "skipped" },
  },
  "tasks that depend on their past": {
    tasks: { a: weighted(9, [], { dependsOnPast: true }), b: weighted(8, ["a"]) },
    runs: 4,
    outcomes: { "b@1#1": "failed" },
  },
  "a failure that holds the runs after it": {
    tasks: { a: weighted(9, [], { dependsOnPast: true }) },
    runs: 3,
    outcomes: { "a@0#1": "failed" },
    stuckRuns: 2,
  },
  "runs one after the other": {
    tasks: { a: weighted(9), b: weighted(8, ["a"], { retries: 1 }) },
    runs: 5,
    maxActiveRuns: 1,
    outcomes: { "b@1#1": "failed", "a@3#1": "failed" },
  },
  "a run over its time": {
    tasks: { a: weighted(9), hangs: weighted(8, ["a"]), c: weighted(7, ["hangs"]) },
    runs: 1,
    spec: { dagrunTimeout: 3600 },
    outcomes: { hangs: "hangs" },
  },
  "a DAG that fails fast": {
    tasks: {
      a: weighted(9),
      b: weighted(8, ["a"], { triggerRule: "all_done" }),
      c: weighted(7, ["b"], { triggerRule: "all_done" }),
    },
    runs: 2,
    maxActiveRuns: 1,
    spec: { failFast: true },
    outcomes: { "a@0#1": "failed" },
  },
};

test.each(Object.entries(SCENARIOS))("ends alike in a simulation and in production: %s", async (_name, scenario) => {
  await on.seedDag("compared", scenario.tasks, { ...LIMITS(scenario), spec: specOf(scenario) });
  const [row] = await db.read<{ data: DagSpec }>("select data from serialized_dag");
  if (row === undefined) throw new Error("it was seeded");
  const real = await scheduled(scenario, row.data);
  expect(real.runs).toHaveLength(scenario.runs);
  expect(await simulated(scenario, row.data)).toEqual(real);
});
