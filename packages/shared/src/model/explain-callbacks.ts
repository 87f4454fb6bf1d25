// What became of the callbacks of one task instance or one run. Pure.
import type { CallbackCondition, CallbackView } from "./conditions-of-callbacks.ts";
import type { RunState } from "./run-state.ts";
import type { TaskState } from "./task-state.ts";

export interface CallbackSituation {
  /** Kinds that the task or the DAG declares, without `dag`: `onSuccess`, … */
  readonly declared: readonly string[];
  /** Those that were asked for, the newest last. */
  readonly asked: readonly CallbackView[];
  readonly hasWorkers: boolean;
  /** Whether the task has been with a worker in its present try. */
  readonly hasRun: boolean;
}

const KINDS: Readonly<Partial<Record<TaskState | RunState, string>>> = {
  success: "onSuccess",
  failed: "onFailure",
  skipped: "onSkipped",
};

/** @param prefix `dag` for a run's, whose kinds are named so when they are asked for */
export function explainCallbacks(
  s: CallbackSituation,
  state: TaskState | RunState,
  prefix: "" | "dag" = "",
): readonly CallbackCondition[] {
  const asked = s.asked.map((view) => ({ kind: "callback" as const, hasWorkers: s.hasWorkers, ...view }));
  const due = KINDS[state];
  if (due === undefined || !s.declared.includes(due)) return asked;
  const name = prefix === "" ? due : `dag${due.slice(0, 1).toUpperCase()}${due.slice(1)}`;
  if (s.asked.some(({ callback }) => callback === name)) return asked;
  return [...asked, { kind: "callback_not_asked", callback: name, neverRan: state === "skipped" && !s.hasRun }];
}
