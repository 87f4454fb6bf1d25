// Callbacks, and the time in which losses are found.
import { DAGS } from "./expected.ts";
import type { Change } from "./history.ts";
import { keyOf, type Evidence, type Invariant } from "./invariants.ts";

const KIND: Readonly<Record<string, "onSuccess" | "onFailure">> = { success: "onSuccess", failed: "onFailure" };

export const callbacksAreOnce: Invariant = (evidence) => {
  const { history, effects } = evidence;
  const found: string[] = [];
  const intents = new Map<string, number>();
  const nameOf = (c: { dagId: string; runId: string; taskId: string | null; tryNumber: number; kind: string }) =>
    `${c.kind} of ${c.dagId}/${c.runId}/${c.taskId ?? ""}/${c.tryNumber}`;
  for (const callback of history.callbacks) {
    const name = nameOf(callback);
    intents.set(name, (intents.get(name) ?? 0) + 1);
    // One that takes its worker with it three times is given up, as an attempt is.
    const isGivenUp = callback.state === "failed" && callback.output === "its worker was lost 3 times";
    if (callback.state !== "success" && !isGivenUp) found.push(`${name} is ${callback.state}: ${callback.output}`);
  }
  const heard = new Map<string, number>();
  const known = new Set(history.callbacks.map((callback) => callback.id));
  for (const line of effects.lines) {
    if (line.event !== "callback" || line.callbackKey === undefined) continue;
    heard.set(line.callbackKey, (heard.get(line.callbackKey) ?? 0) + 1);
    if (!known.has(line.callbackKey) && !evidence.deleted.has(`${line.dagId}/${line.runId}`))
      found.push(`a callback ran under ${line.callbackKey}, which Postgres does not know`);
  }
  for (const callback of history.callbacks) {
    if (callback.state === "success" && !heard.has(callback.id))
      found.push(`${nameOf(callback)} is done and never ran`);
  }
  for (const change of history.changes) {
    const kind = wanted(change);
    if (kind === undefined) continue;
    const name = nameOf({ ...change, kind });
    // A clear gives a try of the same number another attempt only when it never started.
    if (!intents.has(name)) found.push(`${name} is missing, after ${change.from} to ${change.to} by ${change.actor}`);
  }
  const twice = [...intents].filter(([name, n]) => n > 1 && !name.startsWith("dagOn"));
  return [...found, ...twice.filter(([name]) => !isMarked(evidence, name)).map(([name, n]) => `${name}: ${n} rows`)];
};

const isMarked = (evidence: Evidence, name: string): boolean =>
  [...evidence.touched].some((run) => name.includes(` ${run}/`) || name.includes(`of ${run}/`));

function wanted(change: Change): string | undefined {
  const kind = KIND[change.to];
  if (kind === undefined || change.from !== "running") return undefined;
  return DAGS[change.dagId]?.tasks[change.taskId]?.callbacks?.includes(kind) === true ? kind : undefined;
}

const SLACK_SECONDS = 1;
/** Who was late once, was late with the heartbeat, the look and the writing. */
const LATE_TIMES = 3;

const HOUR_MS = 3_600_000;
const isWithin = (at: number, from: number, to: number): boolean =>
  [-HOUR_MS, 0, HOUR_MS].some((byMs) => at + byMs >= from && at + byMs <= to);

const HINDERS: readonly string[] = ["foreign-lock", "connections-used-up", "roll"];

/**
 * Outside of outages of those who have to find it: a frozen or killed scheduler, Postgres, a lock of somebody else, or a
 * scheduler that says that it was not answered in time, as on a machine that others use.
 */
export const lossesAreFoundInTime: Invariant = ({ history, faults, outages, times }) => {
  const hinders = faults.filter(
    ({ fault }) =>
      fault.kind.startsWith("postgres") ||
      HINDERS.includes(fault.kind) ||
      ("member" in fault && fault.member.startsWith("scheduler")),
  );
  return history.losses.flatMap((loss) => {
    const silent = Number(/for ([\d.]+) s/.exec(loss.text)?.[1] ?? 0);
    if (silent <= times.lease + times.detection + SLACK_SECONDS + LATE_TIMES * times.late) return [];
    const from = loss.at - silent * 1000;
    const isHindered = hinders.some((f) => f.from <= loss.at && f.to + (times.lease + 3) * 1000 >= from);
    const isOutage = outages.some((at) => isWithin(at, from, loss.at));
    return isHindered || isOutage ? [] : [`${loss.dagId}.${loss.taskId} in ${loss.runId}: ${loss.text}`];
  });
};

const KILLED_SECONDS = 2;

/**
 * Two seconds after an attempt was taken from its worker its handler does nothing any more. A worker that is frozen cannot
 * know; it has as long after it goes on.
 */
export const lostIsKilled: Invariant = ({ history, effects, faults, times }) => {
  const graceMs = (KILLED_SECONDS + LATE_TIMES * times.late) * 1000;
  const frozen = faults.filter(({ fault }) => fault.kind === "freeze" && fault.member.startsWith("worker"));
  const byKey = new Map<string, number>();
  for (const change of history.changes) {
    if (change.from !== "running" || !change.actor.startsWith("millrace scheduler")) continue;
    if (change.to !== "up_for_retry" && change.to !== "failed") continue;
    byKey.set(keyOf(change, change.tryNumber), change.at);
  }
  return effects.lines.flatMap((line) => {
    const lost = byKey.get(line.key);
    if (lost === undefined || line.event === "callback" || line.at <= lost + graceMs) return [];
    const isExcused = frozen.some((f) => f.from <= lost && line.at <= f.to + graceMs);
    return isExcused ? [] : [`${line.key} did ${line.event} ${line.at - lost} ms after it was taken from its worker`];
  });
};
