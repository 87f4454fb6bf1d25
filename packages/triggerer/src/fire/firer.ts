// Writes what ended waits, many in one statement, then wakes the scheduler. It goes on until Postgres has answered, so an
// outage delays events and loses none. A trigger for which nobody waits any more writes nothing: it has fired already, or
// its task was cleared, marked, stopped or timed out.
import type { TriggerOutcome } from "@millrace/sdk/runtime";
import type { TaskSpec } from "@millrace/sdk/spec";
import {
  assetEventsOf,
  DagVersions,
  finishDeferred,
  markDagResults,
  newId,
  rearmWatchers,
  placesOfWaits,
  resumeDeferred,
  retryDeferred,
  waitingAttempts,
  writeAssetEvents,
  type Database,
  type NewAssetEvent,
  type Queryable,
  type ResumedTask,
  type WaitingAttempt,
} from "@millrace/shared/db";
import { messageOf } from "@millrace/shared/errors";
import { Batcher, crashPoint } from "@millrace/shared/lifecycle";
import type { Logger } from "@millrace/shared/observability";
import type { Broker } from "@millrace/shared/queue";
import { sealKept, waitPlace, type Cipher } from "@millrace/shared/secrets";
import { failed, type Fired } from "../run/trigger.ts";
import { fireWatchers } from "./fire-watchers.ts";
import { decideEnd, type DeferredEnding } from "./decide-end.ts";

export interface FirerDeps {
  readonly db: Database;
  readonly broker: Broker;
  readonly log: Logger;
  /** Encrypts what a task is told of the end of its wait. */
  readonly cipher: Cipher;
  /** core.max_task_retry_delay */
  readonly longestRetryDelay: number;
  /** Of this triggerer. */
  readonly jobId: () => number;
}

/** `none`: nobody waited for it any more. */
export type FireResult = "resumed" | "ended" | "watched" | "none";

const RETRY_MS = 500;

interface Changed {
  readonly dagRunId: number;
  readonly taskId: string;
}

export class Firer {
  readonly #deps: FirerDeps;
  readonly #versions: DagVersions;
  readonly #batcher: Batcher<Fired, FireResult>;
  /** Events for which nobody waited. */
  #stale = 0;
  readonly #rearmIn = new Map<number, number>();
  #isStopped = false;

  constructor(deps: FirerDeps) {
    this.#deps = deps;
    this.#versions = new DagVersions(deps.db, 1_000);
    this.#batcher = new Batcher({ maxItems: 1_000, lanes: 2, restMs: 2, flush: (items) => this.#flush(items) });
  }

  get stale(): number {
    return this.#stale;
  }

  /** Resolves when the event stands, however long that takes; after a stop at once, and the trigger fires elsewhere. */
  async fire(fired: Fired): Promise<FireResult> {
    for (let isRepeat = false; ; isRepeat = true) {
      try {
        const result = await this.#batcher.add(fired);
        if (result === "watched") await this.#rearm(fired.triggerId);
        if (result !== "none") return result;
        this.#stale++;
        this.#deps.log.debug({ trigger: fired.triggerId }, "an event was dropped: no task waits for its trigger");
        // The write before may have been made, its answer and the wake lost.
        if (isRepeat) this.#deps.broker.wake([{ dagRunId: null, taskIds: null }]);
        return result;
      } catch (error) {
        if (this.#isStopped) return "none";
        this.#deps.log.warn(
          { trigger: fired.triggerId, cause: messageOf(error) },
          "the event of a trigger could not be written; it is tried again",
        );
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  /** It counts as held until then, so that nobody starts it twice. */
  async #rearm(triggerId: number): Promise<void> {
    const { db, broker, jobId, log } = this.#deps;
    const ms = this.#rearmIn.get(triggerId) ?? 0;
    this.#rearmIn.delete(triggerId);
    await new Promise((resolve) => setTimeout(resolve, ms).unref());
    // A stopping triggerer gives back all that it has.
    if (this.#isStopped) return;
    try {
      await db.run(rearmWatchers, [jobId(), [triggerId]]);
      broker.callTriggerers();
    } catch (error) {
      // It is still this triggerer's and not run: the next comparison with the table starts it.
      log.warn({ trigger: triggerId, cause: messageOf(error) }, "a watcher could not be armed again");
    }
  }

  /** Waits for the writes under way; what cannot be written now is given up. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#batcher.drain();
  }

  async #flush(items: readonly Fired[]): Promise<FireResult[]> {
    try {
      return await this.#write(items);
    } catch (error) {
      if (!isRefused(error)) throw error;
      // One of them holds what Postgres does not take: the others must not wait for it.
      const [only] = items;
      if (items.length > 1 || only === undefined) {
        const results: FireResult[] = [];
        for (const item of items) results.push(...(await this.#flush([item])));
        return results;
      }
      if (only.outcome.kind === "failed") throw error;
      const outcome = failed("TriggerEventRefused", `its event cannot be stored: ${messageOf(error)}`);
      return await this.#write([{ triggerId: only.triggerId, outcome }]);
    }
  }

  async #write(items: readonly Fired[]): Promise<FireResult[]> {
    crashPoint("triggerer.firing");
    const events = items.filter((item) => item.outcome.kind !== "end");
    const resumed = events.length === 0 ? [] : await this.#resume(events);
    const done = new Map<number, FireResult>(resumed.map((task) => [task.triggerId, "resumed"]));
    const ends = items.filter((item) => !done.has(item.triggerId) && item.outcome.kind !== "failed");
    const ended = ends.length === 0 ? [] : await this.#end(ends);
    for (const { triggerId } of ended) done.set(triggerId, "ended");
    crashPoint("triggerer.fired");
    this.#wake([...resumed, ...ended]);
    const rest = items.filter((item) => !done.has(item.triggerId));
    if (rest.length > 0) {
      const { rearmIn, isAwaited } = await fireWatchers(this.#deps, rest);
      for (const [triggerId, ms] of rearmIn) {
        done.set(triggerId, "watched");
        this.#rearmIn.set(triggerId, ms);
      }
      if (isAwaited) this.#deps.broker.wake([{ dagRunId: null, taskIds: null }]);
    }
    return items.map((item) => done.get(item.triggerId) ?? "none");
  }

  async #resume(items: readonly Fired[]): Promise<ResumedTask[]> {
    const { db, cipher } = this.#deps;
    const ids = items.map((item) => item.triggerId);
    const places = cipher.canEncrypt ? await db.run(placesOfWaits, [ids]) : [];
    const tasks = new Map(places.map((task) => [task.triggerId, task]));
    return await db.run(resumeDeferred, [
      ids,
      items.map(({ triggerId, outcome }) => {
        const task = tasks.get(triggerId);
        // Without a task nobody waits for it, and it is not written.
        return task === undefined
          ? JSON.stringify(outcome)
          : sealKept(cipher, JSON.stringify(outcome), waitPlace(task, "event"));
      }),
      items.map(({ outcome }) => outcome.kind === "failed"),
    ]);
  }

  /** Tasks that end without a worker: by the trigger's word, or because its event is their value. */
  async #end(items: readonly Fired[]): Promise<(Changed & { readonly triggerId: number })[]> {
    const { db, longestRetryDelay } = this.#deps;
    const outcomes = new Map(items.map((item) => [item.triggerId, item.outcome]));
    const waiting = await db.run(waitingAttempts, [[...outcomes.keys()]]);
    const graphs = await this.#versions.load(waiting.map((attempt) => attempt.versionId));
    const endings = waiting.flatMap((attempt) => {
      const end = endOf(outcomes.get(attempt.triggerId), attempt);
      const task = graphs.get(attempt.versionId)?.tasks.get(attempt.taskId)?.spec;
      if (end === undefined || task === undefined) return [];
      return [{ attempt, task, ending: decideEnd(end, task, attempt, longestRetryDelay) }];
    });
    const finals = endings.flatMap(({ ending, ...of }) => (ending.kind === "final" ? [{ ...of, ending }] : []));
    const retries = endings.flatMap(({ ending, ...of }) => (ending.kind === "retry" ? [{ ...of, ending }] : []));
    const written = new Set([...(await this.#writeFinals(finals)), ...(await this.#writeRetries(retries))]);
    return waiting.filter((attempt) => written.has(attempt.id));
  }

  async #writeFinals(items: readonly Of<"final">[]): Promise<string[]> {
    if (items.length === 0) return [];
    const events = items.flatMap((item) => eventsOf(item));
    const results = new Set(items.flatMap(({ attempt, task }) => (task.returnsDagResult ? [attempt.id] : [])));
    const write = async (tx: Queryable): Promise<string[]> => {
      const ids = await this.#writeFinalRows(tx, items);
      if (results.size > 0) await tx.run(markDagResults, [ids.filter((id) => results.has(id))]);
      return ids;
    };
    if (events.length === 0 && results.size === 0) return await write(this.#deps.db);
    let isAwaited = false;
    const written = await this.#deps.db.transaction(async (tx) => {
      const ids = await write(tx);
      const standing = items.filter((item) => ids.includes(item.attempt.id)).flatMap((item) => eventsOf(item));
      isAwaited = standing.length > 0 && (await writeAssetEvents(tx, standing)).some((event) => event.consumers > 0);
      return ids;
    });
    if (isAwaited) this.#deps.broker.wake([{ dagRunId: null, taskIds: null }]);
    return written;
  }

  async #writeFinalRows(tx: Queryable, items: readonly Of<"final">[]): Promise<string[]> {
    const results = items.filter((item) => item.ending.value !== undefined);
    const rows = await tx.run(finishDeferred, [
      items.map((item) => item.attempt.id),
      items.map((item) => item.attempt.epoch),
      items.map((item) => item.ending.state),
      items.map(() => null),
      results.map((item) => item.attempt.id),
      results.map(() => "return_value"),
      results.map((item) => JSON.stringify(item.ending.value)),
      items.map((item) => item.ending.reason),
    ]);
    return rows.map((row) => row.id);
  }

  async #writeRetries(items: readonly Of<"retry">[]): Promise<string[]> {
    if (items.length === 0) return [];
    const rows = await this.#deps.db.run(retryDeferred, [
      items.map((item) => item.attempt.id),
      items.map((item) => item.attempt.epoch),
      items.map(() => newId()),
      items.map((item) => item.ending.delaySeconds),
      items.map((item) => item.ending.reason),
    ]);
    return rows.map((row) => row.id);
  }

  #wake(changed: readonly Changed[]): void {
    const byRun = new Map<number, string[]>();
    for (const { dagRunId, taskId } of changed) {
      const tasks = byRun.get(dagRunId);
      if (tasks === undefined) byRun.set(dagRunId, [taskId]);
      else tasks.push(taskId);
    }
    this.#deps.broker.wake([...byRun].map(([dagRunId, taskIds]) => ({ dagRunId, taskIds })));
  }
}

interface Of<K extends DeferredEnding["kind"]> {
  readonly attempt: WaitingAttempt;
  readonly task: TaskSpec;
  readonly ending: Extract<DeferredEnding, { kind: K }>;
}

/** A task that succeeds without a worker has said nothing more of its outlets. */
const eventsOf = ({ attempt, task, ending }: Of<"final">): readonly NewAssetEvent[] =>
  ending.state === "success" ? assetEventsOf(attempt, task, { kind: "success" }) : [];

function endOf(outcome: TriggerOutcome | undefined, attempt: WaitingAttempt) {
  if (outcome?.kind === "end") return outcome;
  // An event of a task that resumes has been refused just now: it was taken from under our hands.
  if (outcome?.kind !== "event" || attempt.nextMethod !== "end") return undefined;
  return { kind: "end", state: "success", value: outcome.payload } as const;
}

/** Class 22: a value that its column does not take. */
function isRefused(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && /^22[0-9A-Z]{3}$/.test(code);
}
