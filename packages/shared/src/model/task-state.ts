// The only list of task-instance states and of the changes between them.
// Postgres refuses every other change (db/guard.ts builds its trigger from this table), and
// docs/reference/states.md is generated from it.

export const TASK_STATES = [
  "none",
  "scheduled",
  "queued",
  "running",
  "success",
  "failed",
  "up_for_retry",
  "up_for_reschedule",
  "deferred",
  "upstream_failed",
  "skipped",
  "removed",
  "restarting",
  "shutdown",
] as const;

/** `none` is NULL in Postgres. */
export type TaskState = (typeof TASK_STATES)[number];

export const FINISHED_TASK_STATES = ["success", "failed", "skipped", "upstream_failed", "removed"] as const;
export const UNFINISHED_TASK_STATES = TASK_STATES.filter((state) => !isFinished(state));

/** States in which an attempt occupies a slot of every limit: it is on its way to a worker, or with one. */
export const OCCUPYING_TASK_STATES = ["queued", "running", "restarting", "shutdown"] as const;
/** States in which a worker holds the attempt and must say that it lives. */
export const HELD_TASK_STATES = ["running", "restarting", "shutdown"] as const;
/** States from which the scheduler decides. */
export const DECIDABLE_TASK_STATES = ["none", "up_for_retry", "up_for_reschedule"] as const;

export function isFinished(state: TaskState): boolean {
  return (FINISHED_TASK_STATES as readonly string[]).includes(state);
}

export function isDecidable(state: TaskState): boolean {
  return (DECIDABLE_TASK_STATES as readonly string[]).includes(state);
}

export type TaskActor = "scheduler" | "worker" | "triggerer" | "user";

export interface TaskTransition {
  readonly from: TaskState;
  readonly to: TaskState;
  readonly actor: TaskActor;
  readonly why: string;
}

const edges = (from: readonly TaskState[], to: readonly TaskState[], actor: TaskActor, why: string): TaskTransition[] =>
  from.flatMap((f) => to.filter((t) => t !== f).map((t) => ({ from: f, to: t, actor, why })));

const NOT_HELD: readonly TaskState[] = TASK_STATES.filter(
  (state) => !(HELD_TASK_STATES as readonly string[]).includes(state),
);

export const TASK_TRANSITIONS: readonly TaskTransition[] = [
  ...edges(DECIDABLE_TASK_STATES, ["scheduled"], "scheduler", "every dependency is met"),
  ...edges(DECIDABLE_TASK_STATES, ["skipped", "upstream_failed"], "scheduler", "its trigger rule or a branch decided"),
  ...edges(["none"], ["failed"], "scheduler", "what it is mapped over is no list, or too long"),
  ...edges(DECIDABLE_TASK_STATES, ["success"], "scheduler", "an empty task needs no worker"),
  ...edges(DECIDABLE_TASK_STATES, ["deferred"], "scheduler", "it starts from a trigger"),
  ...edges(
    ["none", "scheduled", "queued", "deferred", "up_for_retry", "up_for_reschedule"],
    ["removed"],
    "scheduler",
    "its run moved to a version without it, or what it is mapped over became shorter",
  ),
  ...edges(["scheduled"], ["queued"], "scheduler", "every limit has room"),
  ...edges(["queued"], ["failed"], "scheduler", "no worker claimed it in time"),
  ...edges(["queued"], ["running"], "worker", "a worker claimed it"),
  ...edges(["running"], ["success", "failed", "skipped"], "worker", "its handler ended"),
  ...edges(["running"], ["up_for_retry"], "worker", "it failed and has a try left, or its worker was lost"),
  ...edges(["running"], ["up_for_reschedule"], "worker", "a sensor gave its slot back"),
  ...edges(["running"], ["deferred"], "worker", "it waits for a trigger"),
  ...edges(["deferred"], ["scheduled"], "triggerer", "its trigger fired, failed or timed out"),
  ...edges(["deferred"], ["up_for_retry"], "triggerer", "its trigger ended it as failed, with a try left"),
  ...edges(["running", "shutdown"], ["restarting"], "user", "cleared while a worker has it"),
  ...edges(["restarting"], ["none"], "worker", "its process is gone; it starts afresh"),
  ...edges(["running", "restarting"], ["shutdown"], "user", "marked or stopped while a worker has it"),
  ...edges(["shutdown"], ["failed", "success", "skipped"], "worker", "its process is gone; the mark stands"),
  ...edges(NOT_HELD, ["success", "failed", "skipped"], "user", "marked, or its run ended"),
  ...edges(NOT_HELD, ["none"], "user", "cleared"),
];

/** Every legal change once, as `from>to`: several actors may share one. */
export const TASK_EDGES: ReadonlySet<string> = new Set(TASK_TRANSITIONS.map((t) => `${t.from}>${t.to}`));
