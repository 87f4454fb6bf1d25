// What the states of another DAG's tasks mean for somebody who waits for them. Pure, because two ask: the triggerer,
// for a deferred task (`millrace.external_states`), and a sensor that pokes from within its own process.

/** The kwargs of the trigger `millrace.external_states`. States are those of task instances, or of runs. */
export interface ExternalStatesKwargs {
  readonly dagId: string;
  /** Each of these tasks is waited for; without them and without `taskGroupId`, the run itself. */
  readonly taskIds?: readonly string[];
  readonly taskGroupId?: string;
  /** ISO 8601. Each of these dates needs a run of its own. */
  readonly logicalDates?: readonly string[];
  readonly runIds?: readonly string[];
  readonly allowedStates: readonly string[];
  readonly failedStates: readonly string[];
  readonly skippedStates: readonly string[];
  /** Fail at once when the DAG, the task or the group does not exist, instead of waiting for it. */
  readonly checkExistence: boolean;
  readonly pollSeconds: number;
}

/** One watched thing, as it was found. */
export interface ExternalState {
  readonly runId: string;
  /** That of the run; absent from hosts that do not tell. */
  readonly logicalDate?: string | null;
  /** Null for the run itself. */
  readonly taskId: string | null;
  readonly mapIndex: number;
  readonly state: string;
}

export type ExternalJudgement = "wait" | "allowed" | "failed" | "skipped";

/** What the payload of `millrace.external_states` holds. */
export interface ExternalStatesEvent {
  readonly outcome: Exclude<ExternalJudgement, "wait">;
  readonly states: readonly ExternalState[];
}

/**
 * Airflow's order: one thing in a failed state fails, else one in a skipped state skips, else everything that was asked
 * for has to be there and allowed. All instances of a mapped task count; a removed one only when `removed` is allowed.
 */
export function judgeExternalStates(
  asked: Omit<ExternalStatesKwargs, "checkExistence" | "pollSeconds">,
  states: readonly ExternalState[],
): ExternalJudgement {
  if (states.some(({ state }) => asked.failedStates.includes(state))) return "failed";
  if (states.some(({ state }) => asked.skippedStates.includes(state))) return "skipped";
  const present = states.filter(({ state }) => state !== "removed" || asked.allowedStates.includes(state));
  const runs = new Map<string, ExternalState[]>();
  for (const found of present) {
    const run = runs.get(found.runId);
    if (run === undefined) runs.set(found.runId, [found]);
    else run.push(found);
  }
  const isComplete = (run: readonly ExternalState[]): boolean =>
    run.every(({ state }) => asked.allowedStates.includes(state)) &&
    (asked.taskIds ?? []).every((taskId) => run.some((found) => found.taskId === taskId));
  if (runs.size === 0 || ![...runs.values()].every(isComplete)) return "wait";
  if ((asked.runIds ?? []).some((runId) => !runs.has(runId))) return "wait";
  return (asked.logicalDates ?? []).length <= datesOf(runs) ? "allowed" : "wait";
}

/** Two runs of one date count once; a run whose date is not told counts as a date of its own. */
function datesOf(runs: ReadonlyMap<string, readonly ExternalState[]>): number {
  return new Set(Array.from(runs, ([runId, [first]]) => (first?.logicalDate ? Date.parse(first.logicalDate) : runId)))
    .size;
}
