// Why a run or a task instance is where it is, as values that programs can read, and the sentence for each. Only what the
// deciders really look at is here.
import { sayCause, type Cause } from "./cause.ts";
import { describeCallbackCondition, type CallbackCondition } from "./conditions-of-callbacks.ts";
import { describeDagCondition, type DagCondition } from "./conditions-of-dags.ts";
import type { RunState } from "./run-state.ts";
import type { TaskState } from "./task-state.ts";

export interface TaskName {
  readonly taskId: string;
  readonly mapIndex: number;
}

/** Instants are milliseconds since the epoch, lengths of time seconds. */
export type Condition =
  | Exclude<Cause, { readonly kind: "retry_delay" | "poke_delay" }>
  | { readonly kind: "retry_delay" | "poke_delay"; readonly until: number | null }
  | DagCondition
  | CallbackCondition
  // Of everything.
  | { readonly kind: "dag_paused" }
  | { readonly kind: "no_live_scheduler"; readonly lastSeen: number | null }
  // Of runs.
  | { readonly kind: "run_after_in_future"; readonly until: number }
  | {
      readonly kind: "run_queued_behind";
      readonly of: number;
      /** Ids of the runs that hold the places. */
      readonly running: readonly string[];
      /** Queued runs that are older, and so start earlier. */
      readonly ahead: number;
    }
  | { readonly kind: "backfill_paused"; readonly backfillId: number }
  | {
      readonly kind: "backfill_queued_behind";
      readonly backfillId: number;
      readonly of: number;
      /** Ids of the runs of the backfill that hold its places. */
      readonly running: readonly string[];
      /** Its queued runs whose turn is earlier. */
      readonly ahead: number;
    }
  | { readonly kind: "run_blocked_by_past"; readonly runId: string; readonly tasks: readonly TaskName[] }
  | { readonly kind: "run_blocked"; readonly tasks: readonly TaskName[] }
  | { readonly kind: "run_starts" }
  | { readonly kind: "run_running"; readonly tasks: Readonly<Partial<Record<TaskState, number>>> }
  | { readonly kind: "run_finished"; readonly state: RunState; readonly reason: string | null }
  // Of task instances, by how far they are.
  | { readonly kind: "decided_next"; readonly to: TaskState }
  | { readonly kind: "expanded_next"; readonly length: number }
  | { readonly kind: "fail_fast"; readonly taskId: string }
  | { readonly kind: "parallelism"; readonly of: number; readonly used: number }
  | { readonly kind: "pool_missing"; readonly pool: string }
  | { readonly kind: "pool_too_small"; readonly pool: string; readonly of: number; readonly needs: number }
  | {
      readonly kind: "pool_full";
      readonly pool: string;
      readonly of: number;
      readonly used: number;
      readonly needs: number;
    }
  | { readonly kind: "max_active_tasks"; readonly of: number; readonly used: number }
  | { readonly kind: "max_active_tis_per_dag"; readonly of: number; readonly used: number }
  | { readonly kind: "max_active_tis_per_dagrun"; readonly of: number; readonly used: number }
  /** Scheduled task instances of its pool that come first. */
  | { readonly kind: "ahead_of_it"; readonly count: number }
  | { readonly kind: "queued_next" }
  | { readonly kind: "no_live_worker_for_queue"; readonly queue: string }
  | { readonly kind: "workers_busy"; readonly queue: string; readonly slots: number; readonly running: number }
  | {
      readonly kind: "queued_unclaimed";
      readonly since: number | null;
      /** When its message is sent again, and when it fails, if nobody has claimed it by then. */
      readonly sentAgainAt: number | null;
      readonly failsAt: number | null;
    }
  | {
      readonly kind: "running";
      readonly worker: string | null;
      readonly since: number | null;
      /** Seconds since its worker said that it lives. */
      readonly heartbeatAge: number | null;
      /** Longer than its worker may be silent: it is taken for lost. */
      readonly isLate: boolean;
    }
  | {
      readonly kind: "stopping";
      /** What it ends as; `none`: it starts afresh. */
      readonly mark: TaskState;
      readonly worker: string | null;
      readonly heartbeatAge: number | null;
      readonly isLate: boolean;
    }
  | { readonly kind: "waits_for_trigger"; readonly trigger: string | null; readonly until: number | null }
  | { readonly kind: "waits_for_answer"; readonly subject: string | null; readonly until: number | null }
  | {
      readonly kind: "waits_for_run";
      readonly dagId: string;
      readonly runId: string;
      readonly state: RunState;
    }
  /** What the awaited run needs comes free only when the waiting task has ended. */
  | { readonly kind: "waits_for_itself"; readonly dagId: string; readonly runId: string; readonly through: string }
  /** Queue null: those that take what names no queue. */
  | { readonly kind: "no_live_triggerer"; readonly queue: string | null }
  | { readonly kind: "task_removed"; readonly version: string }
  | { readonly kind: "finished"; readonly state: TaskState; readonly reason: string | null };

export function describeCondition(condition: Condition): string {
  const c = condition;
  switch (c.kind) {
    case "retry_delay":
      return c.until === null ? sayCause({ kind: c.kind }) : `it is tried again at ${at(c.until)}`;
    case "poke_delay":
      return c.until === null ? sayCause({ kind: c.kind }) : `its next poke is at ${at(c.until)}`;
    case "branch_not_taken":
    case "cut_short":
    case "setup":
    case "trigger_rule":
    case "teardown_scope":
    case "expansion":
    case "not_expandable":
    case "list_too_short":
    case "not_mapped":
    case "depends_on_past":
      return sayCause(c);
    case "dag_paused":
      return "its DAG is paused, so that no run of it starts: `millrace dags unpause` lets it go on";
    case "no_live_scheduler":
      return `no scheduler lives${c.lastSeen === null ? "" : `; the last was seen at ${at(c.lastSeen)}`}`;
    case "run_after_in_future":
      return `the run may start at ${at(c.until)}`;
    case "run_queued_behind":
      return (
        `${c.running.length} of ${c.of} runs of the DAG run (${some(c.running)})` +
        (c.ahead === 0 ? "; it is the next" : `; ${c.ahead} queued ${c.ahead === 1 ? "run is" : "runs are"} older`)
      );
    case "backfill_paused":
      return `its backfill ${c.backfillId} is paused: \`millrace backfill unpause\` lets it go on`;
    case "backfill_queued_behind":
      return (
        `${c.running.length} of ${c.of} runs of backfill ${c.backfillId} run (${some(c.running)})` +
        (c.ahead === 0
          ? "; it is the next"
          : `; ${c.ahead} queued ${c.ahead === 1 ? "run has its" : "runs have their"} turn before it`)
      );
    case "run_blocked_by_past":
      return `nothing in it can begin before run ${c.runId}: ${names(c.tasks)} depend on their past`;
    case "run_blocked":
      return `nothing in it can begin: ${names(c.tasks)} wait`;
    case "run_starts":
      return "nothing holds it: it starts with the scheduler's next pass";
    case "run_running":
      return `it runs: ${Object.entries(c.tasks)
        .map(([state, count]) => `${count} ${state}`)
        .join(", ")}`;
    case "run_finished":
      return `its run is ${c.state}${because(c.reason)}`;
    case "decided_next":
      return `nothing holds it: it becomes ${c.to} with the scheduler's next pass`;
    case "expanded_next":
      return `nothing holds it: it is expanded into ${c.length} ${c.length === 1 ? "instance" : "instances"} with the scheduler's next pass`;
    case "fail_fast":
      return `${c.taskId} failed, and its DAG fails fast`;
    case "parallelism":
      return `core.parallelism is used up: ${c.used} of ${c.of} are queued or running`;
    case "pool_missing":
      return `there is no pool ${c.pool}`;
    case "pool_too_small":
      return `it needs ${c.needs} slots of pool ${c.pool}, which has ${c.of}: it can never run`;
    case "pool_full":
      return `pool ${c.pool} has ${c.used} of ${c.of} slots in use, and it needs ${c.needs}`;
    case "max_active_tasks":
      return `maxActiveTasks of its DAG is used up: ${c.used} of ${c.of}`;
    case "max_active_tis_per_dag":
      return `maxActiveTisPerDag of the task is used up: ${c.used} of ${c.of}`;
    case "max_active_tis_per_dagrun":
      return `maxActiveTisPerDagrun of the task is used up: ${c.used} of ${c.of}`;
    case "ahead_of_it":
      return `${c.count} scheduled ${c.count === 1 ? "task goes" : "tasks go"} first in its pool`;
    case "queued_next":
      return "every limit has room: it is queued with the scheduler's next pass";
    case "no_live_worker_for_queue":
      return `no worker lives that takes from queue ${c.queue}`;
    case "workers_busy":
      return `the workers of queue ${c.queue} run ${c.running} tasks at once, and have ${c.slots} places`;
    case "queued_unclaimed":
      return `no worker has claimed it yet${c.sentAgainAt === null ? "" : `; it is sent again at ${at(c.sentAgainAt)}`}${
        c.failsAt === null ? "" : `, and fails at ${at(c.failsAt)}`
      }`;
    case "running":
      return `it runs on ${c.worker ?? "a worker"}${silence(c.heartbeatAge, c.isLate)}`;
    case "stopping":
      return `${c.worker ?? "its worker"} was asked to stop it; then it ${
        c.mark === "none" ? "starts afresh" : `is ${c.mark}`
      }${silence(c.heartbeatAge, c.isLate)}`;
    case "waits_for_trigger":
      return `it waits for its trigger${c.trigger === null ? "" : ` ${c.trigger}`}${c.until === null ? "" : `, until ${at(c.until)}`}`;
    case "waits_for_answer":
      return `it waits for an answer${c.subject === null ? "" : ` to "${c.subject}"`}: see \`millrace hitl list\`${c.until === null ? "" : `; until ${at(c.until)}`}`;
    case "waits_for_run":
      return `run ${c.runId} of ${c.dagId}, which it waits for, is ${c.state}`;
    case "waits_for_itself":
      return `it waits for itself: run ${c.runId} of ${c.dagId} cannot go on before this task has ended, because of ${c.through}`;
    case "no_live_triggerer":
      return c.queue === null ? "no triggerer lives" : `no triggerer lives that takes from queue ${c.queue}`;
    case "task_removed":
      return "the DAG version of its run no longer has the task";
    case "finished":
      return `it is ${c.state}${because(c.reason)}`;
    case "callback":
    case "callback_not_asked":
      return describeCallbackCondition(c);
    default:
      return describeDagCondition(c);
  }
}

const at = (instant: number): string => new Date(instant).toISOString().replace(/\.\d+Z$/, "Z");
const because = (reason: string | null): string => (reason === null || reason === "" ? "" : `: ${reason}`);

const SHOWN = 5;
const some = (ids: readonly string[]): string =>
  ids.length <= SHOWN ? ids.join(", ") : `${ids.slice(0, SHOWN).join(", ")} and ${ids.length - SHOWN} more`;
const names = (tasks: readonly TaskName[]): string =>
  some(tasks.map((task) => (task.mapIndex < 0 ? task.taskId : `${task.taskId}[${task.mapIndex}]`)));

const silence = (age: number | null, isLate: boolean): string =>
  age === null
    ? ""
    : `, which was heard of ${Math.round(age)} s ago${isLate ? ": too long, it is taken for lost" : ""}`;
