// "Why does it not run?": reads one consistent snapshot of a run and everything it competes with, and lets the deciders
// say. Changes nothing and locks nothing.
import type { Config } from "../config/index.ts";
import { AppError } from "../errors/index.ts";
import {
  earliestOf,
  explainCallbacks,
  explainRun as runConditions,
  explainTaskInstance,
  isFinished,
  type Condition,
  type DagGraph,
  type RunState,
  type Situation,
  type TaskSituation,
  type TaskState,
} from "../model/index.ts";
import { Cipher, readKeys } from "../secrets/cipher.ts";
import { openKept, triggerPlace } from "../secrets/wait-secrets.ts";
import type { Database, Queryable } from "./database.ts";
import type { DagVersions } from "./dag-versions.ts";
import { loadLists } from "./load-lists.ts";
import { loadPast } from "./load-past.ts";
import { taskNotFound } from "./reads/task-instances.ts";
import { explainAwaited, type ExplainedAwaited } from "./statements/explain-awaited.ts";
import { explainCallbackRows } from "./statements/explain-callbacks.ts";
import { explainAhead } from "./statements/explain-ahead.ts";
import { explainRunRow, type ExplainedRun } from "./statements/explain-run.ts";
import { explainTaskRows, type ExplainedTask } from "./statements/explain-tasks.ts";
import { readAdmission } from "./statements/read-admission.ts";
import { slotHolders, type SlotHolder } from "./statements/slot-holders.ts";

export interface Explanation<S> {
  readonly dagId: string;
  readonly runId: string;
  readonly state: S;
  readonly since: Date | null;
  readonly conditions: readonly Condition[];
  /** Not before this moment, as far as the clock decides. */
  readonly earliest: Date | null;
  /** Attempts that hold what it waits for, the oldest first. */
  readonly holders: readonly SlotHolder[];
}

export interface TaskExplanation extends Explanation<TaskState> {
  readonly taskId: string;
  readonly mapIndex: number;
}

export interface RunExplanation extends Explanation<RunState> {
  /** Its task instances that have not ended, in the order of their ids; no more than a hundred. */
  readonly tasks: readonly Omit<TaskExplanation, "holders">[];
}

const HOLDERS_SHOWN = 50;
const TASKS_SHOWN = 100;

/** @throws AppError RUN_NOT_FOUND. */
export async function explainRun(
  db: Database,
  versions: DagVersions,
  config: Config,
  dagId: string,
  runId: string,
): Promise<RunExplanation> {
  return await db.transaction(
    async (tx) => {
      const s = await readSituation(tx, versions, config, dagId, runId, undefined);
      const callbacks = explainCallbacks(await readCallbacks(tx, s), s.run.state, "dag");
      const conditions = [...runConditions(s), ...callbacks];
      const open = s.tasks.filter((ti) => !isFinished(ti.state)).slice(0, TASKS_SHOWN);
      return {
        dagId,
        runId,
        state: s.run.state,
        since: date(s.run.since),
        conditions,
        earliest: date(earliestOf(conditions)),
        holders: [],
        tasks: open.map((ti) => taskExplanation(s, ti)),
      };
    },
    { snapshot: true },
  );
}

/** @throws AppError RUN_NOT_FOUND or TASK_NOT_FOUND. */
export async function explainTask(
  db: Database,
  versions: DagVersions,
  config: Config,
  dagId: string,
  runId: string,
  taskId: string,
  mapIndex = -1,
): Promise<TaskExplanation> {
  return await db.transaction(
    async (tx) => {
      const s = await readSituation(tx, versions, config, dagId, runId, taskId);
      const ti = s.tasks.find((one) => one.taskId === taskId && one.mapIndex === mapIndex);
      if (ti === undefined) {
        const instances = s.tasks.filter((one) => one.taskId === taskId);
        throw taskNotFound({ dagId, runId, taskId }, mapIndex, instances);
      }
      const found = taskExplanation(s, ti);
      const callbacks = explainCallbacks(await readCallbacks(tx, s, ti), ti.state);
      const explanation = { ...found, conditions: [...found.conditions, ...callbacks] };
      return { ...explanation, holders: await readHolders(tx, s, ti, explanation.conditions) };
    },
    { snapshot: true },
  );
}

function taskExplanation(s: Situation, ti: TaskSituation): Omit<TaskExplanation, "holders"> {
  const conditions = explainTaskInstance(s, ti);
  return {
    dagId: s.dag.dagId,
    runId: s.run.runId,
    taskId: ti.taskId,
    mapIndex: ti.mapIndex,
    state: ti.state,
    since: date(ti.since),
    conditions,
    earliest: date(earliestOf(conditions)),
  };
}

/** Of a task instance, or of the run itself. */
async function readCallbacks(tx: Queryable, s: Situation, ti?: TaskSituation) {
  const [row] = await tx.run(explainCallbackRows, [s.run.id, ti?.taskId ?? null, ti?.mapIndex ?? -1]);
  return {
    declared: row?.declared ?? [],
    hasRun: row?.hasRun ?? false,
    hasWorkers: s.processes.workers.length > 0,
    asked: (row?.asked ?? []).map((callback) => ({ ...callback, since: Date.parse(callback.since) })),
  };
}

async function readHolders(
  tx: Queryable,
  s: Situation,
  ti: TaskSituation,
  conditions: readonly Condition[],
): Promise<readonly SlotHolder[]> {
  const has = (kind: Condition["kind"]) => conditions.some((condition) => condition.kind === kind);
  const perDag = has("max_active_tis_per_dag");
  const ofTask = perDag || has("max_active_tis_per_dagrun");
  const asked = [has("parallelism"), has("pool_full"), has("max_active_tasks"), ofTask] as const;
  if (!asked.includes(true)) return [];
  const { dagId } = s.dag;
  return await tx.run(slotHolders, [
    asked[0],
    asked[1] ? ti.pool : null,
    asked[2] ? dagId : null,
    ofTask ? dagId : null,
    ofTask ? ti.taskId : null,
    ofTask && !perDag ? s.run.id : null,
    HOLDERS_SHOWN,
  ]);
}

async function readSituation(
  tx: Queryable,
  versions: DagVersions,
  config: Config,
  dagId: string,
  runId: string,
  onlyTask: string | undefined,
): Promise<Situation> {
  const { core, scheduler, triggerer } = config;
  const [[row], rows] = await Promise.all([
    tx.run(explainRunRow, [
      dagId,
      runId,
      scheduler.scheduler_health_check_threshold,
      scheduler.task_instance_heartbeat_timeout,
      triggerer.triggerer_health_check_threshold,
    ]),
    tx.run(explainTaskRows, [dagId, runId]),
  ]);
  const versionId = row?.versionId ?? "";
  const graph = versionId === "" ? undefined : (await versions.load([versionId], tx)).get(versionId);
  if (row === undefined || graph === undefined) throw new AppError("RUN_NOT_FOUND", { dagId, runId });
  const scheduled = rows.filter((ti) => ti.state === "scheduled" && (onlyTask === undefined || ti.taskId === onlyTask));
  const [past, [admission], ahead, awaited] = await Promise.all([
    loadPast(tx, [{ id: row.id, graph }]),
    scheduled.length === 0 ? [] : tx.run(readAdmission, [core.parallelism, 1, 1]),
    scheduled.length === 0 ? [] : tx.run(explainAhead, [scheduled.map((ti) => ti.id)]),
    readAwaited(tx, rows, new Cipher(readKeys(core.encryption_key))),
  ]);
  return {
    ...ofRun(row, dagId, runId),
    limits: {
      parallelism: core.parallelism,
      redispatchAfter: scheduler.task_redispatch_after,
      queuedTimeout: scheduler.task_queued_timeout,
      heartbeatTimeout: scheduler.task_instance_heartbeat_timeout,
    },
    graph,
    tasks: await addLists(tx, row.id, graph, rows.map(ofTaskRow)),
    past: past.get(row.id),
    pools: admission?.pools ?? [],
    occupancy: admission?.occupancy ?? [],
    awaited,
    ahead: new Map(ahead.map(({ id, count }) => [id, count])),
  };
}

/** With the lengths of the lists over which others are mapped, on one instance of each task that returns some. */
async function addLists(
  tx: Queryable,
  dagRunId: number,
  graph: DagGraph,
  tasks: readonly TaskSituation[],
): Promise<readonly TaskSituation[]> {
  if (!graph.isMapped) return tasks;
  const firsts = new Map<string, TaskSituation>();
  for (const ti of tasks) {
    if ((graph.tasks.get(ti.taskId)?.listPaths.length ?? 0) > 0 && !firsts.has(ti.taskId)) firsts.set(ti.taskId, ti);
  }
  const taskIds = [...firsts.keys()];
  const found = await loadLists(
    tx,
    taskIds.map((taskId) => ({ dagRunId, graph, taskId })),
  );
  const lists = new Map(taskIds.map((taskId, i) => [firsts.get(taskId), found[i]]));
  return tasks.map((ti) => {
    const own = lists.get(ti);
    return own === undefined ? ti : { ...ti, lists: own };
  });
}

/** The runs that deferred tasks wait for, by attempt. */
async function readAwaited(
  tx: Queryable,
  rows: readonly ExplainedTask[],
  cipher: Cipher,
): Promise<ReadonlyMap<string, readonly ExplainedAwaited[]>> {
  const waits = rows.flatMap(({ id, state, trigger, triggerKwargs }) =>
    state === "deferred" && trigger === "millrace.external_states" && triggerKwargs !== null
      ? kwargsOf(cipher, triggerKwargs, id).map((kwargs) => ({ id, kwargs }))
      : [],
  );
  if (waits.length === 0) return new Map();
  const found = await tx.run(explainAwaited, [
    waits.map(({ id }) => id),
    waits.map(({ kwargs }) => kwargs.dagId),
    waits.map(({ kwargs }) => JSON.stringify(kwargs.runIds ?? [])),
    waits.map(({ kwargs }) => JSON.stringify(kwargs.logicalDates ?? [])),
  ]);
  return new Map(waits.map(({ id }) => [id, found.filter((run) => run.tiId === id)]));
}

/** None: this process has not the key to read them. */
function kwargsOf(cipher: Cipher, stored: string, attemptId: string): readonly AwaitedKwargs[] {
  try {
    return [JSON.parse(openKept(cipher, stored, triggerPlace(attemptId, null))) as AwaitedKwargs]; // what that trigger is given
  } catch {
    return [];
  }
}

interface AwaitedKwargs {
  readonly dagId: string;
  readonly runIds?: readonly string[];
  readonly logicalDates?: readonly string[];
}

const ofRun = (row: ExplainedRun, dagId: string, runId: string) => ({
  now: row.now.getTime(),
  dag: {
    dagId,
    isPaused: row.isPaused,
    maxActiveRuns: row.maxActiveRuns,
    maxActiveTasks: row.maxActiveTasks,
  },
  run: {
    id: row.id,
    runId,
    versionId: row.versionId ?? "",
    state: row.state,
    reason: row.stateReason,
    runAfter: row.runAfter.getTime(),
    logicalDate: row.logicalDate?.getTime() ?? null,
    since: row.since?.getTime() ?? null,
  },
  backfill: row.backfill ?? undefined,
  rivals: { running: row.running, ahead: row.ahead },
  processes: {
    schedulers: { live: row.liveSchedulers, lastSeen: row.lastScheduler?.getTime() ?? null },
    triggerers: row.triggerers,
    workers: row.workers,
  },
});

const ofTaskRow = (ti: ExplainedTask): TaskSituation => ({
  ...ti,
  since: ti.since?.getTime() ?? null,
  queuedAt: ti.queuedAt?.getTime() ?? null,
  sentAt: ti.sentAt?.getTime() ?? null,
  startedAt: ti.startedAt?.getTime() ?? null,
  retryAt: ti.retryAt?.getTime() ?? null,
  triggerTimeout: ti.triggerTimeout?.getTime() ?? null,
});

const date = (instant: number | null): Date | null => (instant === null ? null : new Date(instant));
