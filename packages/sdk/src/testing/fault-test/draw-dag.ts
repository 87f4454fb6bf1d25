// The DAG of one history, drawn from the seed: small, so that two minutes hold its whole life, and different in all that
// the deciders look at.
import type { DagSpec, TaskSpec } from "../../spec/index.ts";
import type { Random } from "../engine/random.ts";

const INTERVAL_SECONDS = 10;
const RULES = ["all_success", "all_success", "all_done", "none_failed"] as const;
const EPOCH = new Date(0).toISOString();

/** @param runs how many its schedule asks for, one every ten seconds */
export function drawDag(random: Random, runs: number): DagSpec {
  const tasks: TaskSpec[] = [];
  const size = 1 + random.integer(4);
  for (let i = 0; i < size; i++) {
    const upstream: string[] = [];
    for (const { taskId } of tasks) if (random.chance(0.5)) upstream.push(taskId);
    tasks.push(drawTask(random, `t${i}`, upstream));
  }
  return {
    dagId: "dag",
    schedule: { kind: "delta", seconds: INTERVAL_SECONDS },
    catchup: true,
    startDate: EPOCH,
    endDate: new Date((runs - 1) * INTERVAL_SECONDS * 1000).toISOString(),
    tags: [],
    owners: [],
    failFast: random.chance(0.1),
    ...(random.chance(0.1) ? { dagrunTimeout: 15 } : undefined),
    renderTemplateAsNativeObj: false,
    disableBundleVersioning: false,
    params: {},
    callbacks: [],
    groups: [],
    tasks,
  };
}

// Every field in its place: a copy of a standard task costs ten times as much, and a seed is a millisecond.
function drawTask(random: Random, taskId: string, upstream: readonly string[]): TaskSpec {
  return {
    taskId,
    operator: "task",
    upstream,
    inputs: {},
    isSetup: false,
    isTeardown: false,
    onFailureFailDagrun: false,
    owner: "",
    triggerRule: random.pick(RULES),
    dependsOnPast: random.chance(0.1),
    ignoreFirstDependsOnPast: false,
    waitForPastDependsBeforeSkipping: false,
    waitForDownstream: false,
    retries: random.integer(3),
    infraRetries: 0,
    queue: "default",
    pool: "default_pool",
    poolSlots: 1,
    retryDelay: random.integer(3) * 2,
    retryExponentialBackoff: 0,
    priorityWeight: 1,
    weightRule: "downstream",
    doXcomPush: true,
    returnsDagResult: false,
    callbacks: [],
  };
}
