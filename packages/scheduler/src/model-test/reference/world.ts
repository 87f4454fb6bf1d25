// The reference: what runs of one DAG should look like, kept as plain objects and changed in place. Nothing of the
// product is used here, and nothing is clever: each question is answered by looking at everything.
import type { TriggerRule } from "@millrace/sdk/spec";

export interface Task {
  readonly id: string;
  /** Of lower number only, so that the order of the list is an order of dependencies. */
  readonly upstream: readonly string[];
  readonly rule: TriggerRule;
  readonly kind: "task" | "empty" | "branch" | "short_circuit";
  /** A short circuit that asks nobody: everything below it is skipped. */
  readonly cutsAll: boolean;
  readonly isSetup: boolean;
  readonly isTeardown: boolean;
  readonly failsRun: boolean;
  readonly retries: number;
  readonly infraRetries: number;
  readonly needsPast: boolean;
  readonly needsPastDownstream: boolean;
}

export type State =
  | "none"
  | "scheduled"
  | "queued"
  | "running"
  | "up_for_retry"
  | "restarting"
  | "shutdown"
  | "success"
  | "failed"
  | "skipped"
  | "upstream_failed";

export type Mark = "success" | "failed" | "skipped";

/** What a branch or a short circuit decided: the children that go on, or that nothing below goes on. */
export type Choice = readonly string[] | "cut";

export interface Instance {
  readonly task: Task;
  state: State;
  /** How often it was sent on its way. */
  tries: number;
  /** Failures of its own that it may still have and be tried again. */
  failuresLeft: number;
  lostWorkers: number;
  /** Only of up_for_retry. */
  isDue: boolean;
  choice: Choice | undefined;
  mark: Mark;
  /** Numbers of the tries that are history. */
  history: Set<number>;
}

export interface Run {
  readonly id: string;
  state: "queued" | "running" | "success" | "failed";
  readonly instances: ReadonlyMap<string, Instance>;
  /** A task failed since the run was last queued, and what follows from it under failFast has not been done yet. */
  hasNewFailure: boolean;
}

export interface World {
  readonly dagId: string;
  readonly tasks: readonly Task[];
  readonly failFast: boolean;
  readonly maxActiveRuns: number;
  /** By logical date. */
  readonly runs: readonly Run[];
}

export const ENDED: readonly State[] = ["success", "failed", "skipped", "upstream_failed"];
export const WITH_WORKER: readonly State[] = ["running", "restarting", "shutdown"];
export const hasEnded = (instance: Instance): boolean => ENDED.includes(instance.state);
export const isWithWorker = (instance: Instance): boolean => WITH_WORKER.includes(instance.state);

export function instanceOf(run: Run, taskId: string): Instance {
  const found = run.instances.get(taskId);
  if (found === undefined) throw new Error(`no ${taskId} in ${run.id}`);
  return found;
}

export const childrenOf = (world: World, id: string): Task[] =>
  world.tasks.filter((task) => task.upstream.includes(id));

/** Whether there is a path from one task down to the other. */
export const isAbove = (world: World, upper: string, lower: string): boolean =>
  childrenOf(world, upper).some((child) => child.id === lower || isAbove(world, child.id, lower));

export function newWorld(world: Omit<World, "runs">, runIds: readonly string[]): World {
  const newInstance = (task: Task): Instance => ({
    task,
    state: "none",
    tries: 0,
    failuresLeft: task.retries,
    lostWorkers: 0,
    isDue: false,
    choice: undefined,
    mark: "failed",
    history: new Set(),
  });
  const newRun = (id: string): Run => ({
    id,
    state: "queued",
    instances: new Map(world.tasks.map((task) => [task.id, newInstance(task)])),
    hasNewFailure: false,
  });
  return { ...world, runs: runIds.map(newRun) };
}
