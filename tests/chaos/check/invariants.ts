// The invariants that hold of attempts: starts, epochs, edges, results. Each gives what breaks it, in words.
import type { Acknowledged, Operated } from "../load/load.ts";
import type { Done } from "../monkey/monkey.ts";
import type { Effects } from "./effects.ts";
import { CLOCK_CHANGES, DAGS, FINAL, isLegal, TICK_SECONDS } from "./expected.ts";
import { isPerson, type Change, type History, type TaskRow } from "./history.ts";

export interface Evidence {
  readonly history: History;
  readonly effects: Effects;
  readonly acknowledged: readonly Acknowledged[];
  readonly operated: readonly Operated[];
  /** `dag/run` that a person cleared or marked. */
  readonly touched: ReadonlySet<string>;
  /** `dag/run` that a person deleted, or tried to. */
  readonly deleted: ReadonlySet<string>;
  /** What was answered to questions, by `dag/run`. */
  readonly answers: ReadonlyMap<string, ReadonlySet<string>>;
  readonly faults: readonly Done[];
  /** When a scheduler had been without an answer of Postgres, by its own clock, which may be wrong by whole hours. */
  readonly outages: readonly number[];
  /** Seconds. */
  readonly times: { readonly lease: number; readonly detection: number; readonly late: number };
}

export type Invariant = (evidence: Evidence) => string[];

type Of = Pick<Change, "dagId" | "runId" | "taskId" | "mapIndex">;
export const keyOf = (of: Of, tryNumber: number): string =>
  [of.dagId, of.runId, of.taskId, of.mapIndex, tryNumber].join("/");
const nameOf = (of: Pick<Change, "dagId" | "runId" | "taskId">) => `${of.dagId}.${of.taskId} in ${of.runId}`;
const isTouched = (evidence: Evidence, of: Pick<Change, "dagId" | "runId">) =>
  evidence.touched.has(`${of.dagId}/${of.runId}`);
const taskOf = (of: Pick<Change, "dagId" | "taskId">) => DAGS[of.dagId]?.tasks[of.taskId];

function groupBy<T, K>(items: readonly T[], key: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group === undefined) groups.set(key(item), [item]);
    else group.push(item);
  }
  return groups;
}

/** A try begins once, and after its wait goes on once. */
export const eachAttemptStartsOnce: Invariant = ({ effects }) =>
  (["start", "resume"] as const).flatMap((event) =>
    [
      ...groupBy(
        effects.lines.filter((line) => line.event === event),
        (line) => line.key,
      ),
    ]
      .filter(([, times]) => times.length > 1)
      .map(
        ([key, times]) => `${key}: ${event} ${times.length} times, in processes ${times.map((t) => t.pid).join(", ")}`,
      ),
  );

/** `dag/run` of the key of a try. */
const runOf = (key: string): string => key.split("/").slice(0, 2).join("/");

export const noEffectWithoutHistory: Invariant = ({ history, effects, deleted }) => {
  const claimed = new Set(
    history.changes.filter((change) => change.to === "running").map((change) => keyOf(change, change.tryNumber)),
  );
  return effects.lines
    .filter((line) => line.event === "start" && !claimed.has(line.key) && !deleted.has(runOf(line.key)))
    .map((line) => `${line.key} ran, and Postgres knows of no claim`);
};

export const epochsAreWhole: Invariant = ({ history }) => {
  const found: string[] = [];
  const byRow = groupBy(history.changes, (change) => change.rowId);
  for (const task of history.tasks) {
    const changes = (byRow.get(task.rowId) ?? []).toSorted((a, b) => a.epoch - b.epoch);
    let state = "none";
    changes.forEach((change, i) => {
      if (change.epoch !== i + 1) found.push(`${nameOf(task)}: epoch ${i + 1} is missing`);
      if (change.from !== state)
        found.push(`${nameOf(task)}: epoch ${change.epoch} leaves ${change.from}, it was ${state}`);
      const before = changes[i - 1];
      if (before !== undefined && before.committed > change.committed)
        found.push(`${nameOf(task)}: epoch ${change.epoch} was committed before ${before.epoch}`);
      state = change.to;
    });
    if (task.epoch !== changes.length || task.state !== state)
      found.push(`${nameOf(task)} is ${task.state} at ${task.epoch}, its log ends with ${state} at ${changes.length}`);
  }
  return found;
};

export const changesAreLegal: Invariant = (evidence) =>
  evidence.history.changes
    .filter((change) => {
      if (isLegal(change.from, change.to, isPerson(change.actor))) return false;
      // The end of a run that a person marked skips what waits in it.
      return !(isTouched(evidence, change) && isLegal(change.from, change.to, true) && change.to === "skipped");
    })
    .map((change) => `${nameOf(change)} went from ${change.from} to ${change.to}, by ${change.actor}`);

export const finalResultsStay: Invariant = ({ history }) =>
  history.changes
    .filter((change) => FINAL.has(change.from) && !isPerson(change.actor))
    .map((change) => `${nameOf(change)} left ${change.from} for ${change.to}, by ${change.actor}`);

export const everythingEnded: Invariant = ({ history }) => [
  ...history.tasks.filter((task) => !FINAL.has(task.state)).map((task) => `${nameOf(task)} is ${task.state}`),
  ...history.runs
    .filter((run) => run.state !== "success" && run.state !== "failed")
    .map((run) => `run ${run.runId} of ${run.dagId} is ${run.state}`),
  ...(history.triggersLeft === 0 ? [] : [`${history.triggersLeft} triggers are left`]),
];

/** What Postgres calls a success did happen, once, and its value is that of the try that won. */
export const successesAreReal: Invariant = (evidence) => {
  const { history, effects } = evidence;
  const found: string[] = [];
  const did = (key: string, ...events: readonly string[]) =>
    effects.of(key).some((line) => events.includes(line.event));
  for (const change of history.changes) {
    if (change.from !== "running" || change.to !== "success") continue;
    if (taskOf(change)?.asks === true) continue;
    const key = keyOf(change, change.tryNumber);
    const hasBegun = taskOf(change)?.waits === true ? did(key, "start", "resume") : did(key, "start");
    if (!hasBegun) found.push(`${key} succeeded, and its handler never started`);
    if (!did(key, "end")) found.push(`${key} succeeded, and its handler did not end`);
  }
  for (const task of history.tasks) {
    const expected = taskOf(task);
    if (isTouched(evidence, task) || expected?.givesKey !== true) continue;
    const isRight =
      task.state !== "success"
        ? task.value === null
        : expected.waits === true
          ? triesOf(task).some((key) => key === task.value && did(key, "start"))
          : task.value === keyOf(task, task.tryNumber);
    if (!isRight)
      found.push(
        `${nameOf(task)} is ${task.state} in try ${task.tryNumber}, its value is ${JSON.stringify(task.value)}`,
      );
  }
  return found;
};

/** A worker that says that the process of an attempt is gone is right. */
export const stoppedMeansStopped: Invariant = ({ history, effects }) =>
  history.changes
    .filter((change) => (change.from === "restarting" || change.from === "shutdown") && change.actor.includes("worker"))
    .flatMap((change) =>
      effects
        .of(keyOf(change, change.tryNumber))
        .filter((line) => line.event !== "callback" && line.at > change.at + 50)
        .map(
          (line) =>
            `${line.key} was confirmed as stopped, and its handler did ${line.event} ${line.at - change.at} ms later`,
        ),
    );

/** Only what the user's own code did uses up the user's retries. */
export const retriesAreTheUsers: Invariant = (evidence) => {
  const { effects, history } = evidence;
  const found: string[] = [];
  for (const task of history.tasks) {
    const expected = taskOf(task);
    if (expected === undefined || isTouched(evidence, task)) continue;
    if (task.state === "upstream_failed" || task.state === "skipped") continue;
    if (task.state !== "failed") {
      if (expected.alwaysThrows === true) found.push(`${nameOf(task)} is ${task.state}, though it always throws`);
      continue;
    }
    if (expected.retries === 0 && task.reason?.startsWith("worker lost") === true) continue;
    if (task.infraFailures >= 3 && task.reason?.includes("lost") === true) continue;
    const own = triesOf(task).filter((key) => isOwnFailure(evidence, effects, key)).length;
    if (own < expected.retries + 1)
      found.push(
        `${nameOf(task)} failed after ${own} failures of its own, it may fail ${expected.retries + 1} times (try ${task.tryNumber} of ${task.maxTries + 1}; ${task.reason ?? "no reason"})`,
      );
  }
  return found;
};

const triesOf = (task: TaskRow): string[] => Array.from({ length: task.tryNumber }, (_, i) => keyOf(task, i + 1));

function isOwnFailure(_evidence: Evidence, effects: Effects, key: string): boolean {
  const lines = effects.of(key);
  if (lines.some((line) => line.event === "throw")) return true;
  const start = lines.find((line) => line.event === "start");
  const killedAt = start === undefined ? undefined : effects.killed.get(start.pid);
  return killedAt !== undefined && start !== undefined && killedAt >= start.at;
}

export const acknowledgedIsThere: Invariant = ({ history, acknowledged, deleted }) => {
  const runs = new Set(history.runs.map((run) => `${run.dagId}/${run.runId}`));
  const byKey = groupBy(acknowledged, (ack) => `${ack.dagId}/${ack.runId}`);
  return [
    ...acknowledged
      .filter((ack) => !runs.has(`${ack.dagId}/${ack.runId}`) && !deleted.has(`${ack.dagId}/${ack.runId}`))
      .map((ack) => `run ${ack.runId} of ${ack.dagId} was acknowledged and is not there`),
    ...[...byKey].filter(([, acks]) => acks.length > 1).map(([run]) => `${run} answers two keys`),
  ];
};

/** A request that had its answer is in the audit log, and one that was repeated under its key is there once. */
export const acknowledgedIsAudited: Invariant = ({ history, acknowledged, operated }) => {
  const nameOfAudit = (of: Operated) => `${of.event} of ${of.dagId}/${of.runId}`;
  const audits = groupBy(history.audits, nameOfAudit);
  const triggered = acknowledged.map((ack) => ({ event: "trigger_dag_run", dagId: ack.dagId, runId: ack.runId }));
  return [
    ...[...groupBy(operated, nameOfAudit)]
      .filter(([name, done]) => (audits.get(name)?.length ?? 0) < done.length)
      .map(
        ([name, done]) =>
          `${name} was acknowledged ${done.length} times, and is in the audit log ${audits.get(name)?.length ?? 0} times`,
      ),
    ...triggered
      .map((of) => [nameOfAudit(of), audits.get(nameOfAudit(of))?.length ?? 0] as const)
      .filter(([, times]) => times !== 1)
      .map(([name, times]) => `${name} is in the audit log ${times} times`),
  ];
};

export const everySlotOnce: Invariant = ({ history }) => {
  const slots = history.runs
    .filter((run) => run.dagId === "chaos_ticking" && run.type === "scheduled")
    .map((run) => run.logicalDate ?? 0)
    .toSorted((a, b) => a - b);
  const gaps = slots.slice(1).flatMap((slot, i) => {
    const gap = slot - (slots[i] as number);
    return gap === TICK_SECONDS * 1000
      ? []
      : [`after ${new Date(slots[i] as number).toISOString()} comes a run ${gap} ms later`];
  });
  return [
    ...gaps,
    ...Object.entries(CLOCK_CHANGES).flatMap(([dagId, wanted]) => {
      const dates = history.runs.filter((run) => run.dagId === dagId && run.type === "scheduled");
      const found = dates.map((run) => new Date(run.logicalDate ?? 0).toISOString().slice(0, 16)).toSorted();
      return found.join() === wanted.join()
        ? []
        : [`${dagId} has runs of ${found.join()}, and not of ${wanted.join()}`];
    }),
  ];
};
