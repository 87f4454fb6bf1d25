// Writes how attempts ended, many in one transaction, each only if the attempt is still this worker's; then wakes the
// scheduler. It goes on until Postgres has answered: a repeat of a write that was made is a success, and anything else
// that matches no row is a stale result, which is dropped and counted.
import type { TaskOutcome } from "@millrace/sdk/runtime";
import {
  deferAttempts,
  finishAttempts,
  isRefused,
  markDagResults,
  newId,
  readAttempts,
  rescheduleAttempts,
  retryAttempts,
  writeAssetEvents,
  type ClaimedAttempt,
  type Database,
  type NewAssetEvent,
  type Queryable,
} from "@millrace/shared/db";
import { messageOf } from "@millrace/shared/errors";
import { Batcher, crashPoint } from "@millrace/shared/lifecycle";
import type { Logger } from "@millrace/shared/observability";
import type { Broker, Wake } from "@millrace/shared/queue";
import { Cipher, sealKept, triggerPlace, waitPlace } from "@millrace/shared/secrets";

export type Ending =
  | {
      readonly kind: "final";
      readonly state: "success" | "failed" | "skipped";
      readonly branchDecision?: string;
      /** JSON of the return value. */
      readonly returnValue?: string;
      /** The return value is the result of the run. */
      readonly isDagResult?: boolean;
      /** With a success: what it says of assets. */
      readonly assetEvents?: readonly NewAssetEvent[];
      /** Why it failed. */
      readonly reason?: string;
    }
  | { readonly kind: "retry"; readonly delaySeconds: number; readonly free: boolean; readonly reason: string }
  | { readonly kind: "deferred"; readonly wait: Wait }
  | { readonly kind: "rescheduled"; readonly delaySeconds: number };

export type Wait = Extract<TaskOutcome, { kind: "deferred" }>;

interface Item {
  readonly attempt: ClaimedAttempt;
  readonly ending: Ending;
}

const RETRY_MS = 500;
const LOOK_AROUND: Wake = { dagRunId: null, taskIds: null };
const NO_EVENTS: readonly NewAssetEvent[] = [];

const eventsOf = ({ ending }: Item): readonly NewAssetEvent[] =>
  ending.kind === "final" && ending.state === "success" ? (ending.assetEvents ?? NO_EVENTS) : NO_EVENTS;

const isDagResult = ({ ending }: Item): boolean =>
  ending.kind === "final" && ending.isDagResult === true && ending.returnValue !== undefined;

export class Finisher {
  readonly #db: Database;
  readonly #broker: Broker;
  readonly #log: Logger;
  readonly #cipher: Cipher;
  readonly #batcher: Batcher<Item, boolean>;

  /** @param cipher encrypts what handlers hand to triggers, and keep for themselves; without a key it is kept as it is */
  constructor(db: Database, broker: Broker, log: Logger, cipher: Cipher = new Cipher([])) {
    this.#db = db;
    this.#cipher = cipher;
    this.#broker = broker;
    this.#log = log;
    this.#batcher = new Batcher({ maxItems: 200, restMs: 4, flush: (items) => this.#flush(items) });
  }

  /** True when the ending stands; false when the attempt was no longer this worker's. */
  async finish(attempt: ClaimedAttempt, ending: Ending): Promise<boolean> {
    for (let isRepeat = false; ; isRepeat = true) {
      try {
        if (await this.#batcher.add({ attempt, ending })) return true;
        if (!isRepeat || !(await this.#stands(attempt, ending))) return false;
        this.#tell([{ attempt, ending }]);
        if (eventsOf({ attempt, ending }).length > 0) this.#broker.wake([LOOK_AROUND]);
        return true;
      } catch (error) {
        this.#log.warn(
          { attempt: attempt.id, cause: messageOf(error) },
          "the end of an attempt could not be written; it is tried again",
        );
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  /** One result that Postgres cannot hold must not keep the others from being written, nor its attempt from ending. */
  async #flush(items: readonly Item[]): Promise<boolean[]> {
    try {
      return await this.#write(items);
    } catch (error) {
      if (!isRefused(error)) throw error;
      if (items.length > 1) {
        const written: boolean[] = [];
        for (const item of items) written.push(...(await this.#flush([item])));
        return written;
      }
      const cause = messageOf(error);
      this.#log.error({ attempt: items[0]?.attempt.id, cause }, "the end of an attempt was refused by the database");
      const reason = `its end was refused by the database: ${cause}`;
      return await this.#write(
        items.map(({ attempt }) => ({ attempt, ending: { kind: "final", state: "failed", reason } })),
      );
    }
  }

  async #write(items: readonly Item[]): Promise<boolean[]> {
    const kinds = new Set(items.map((item) => item.ending.kind));
    const writeAll = async (tx: Queryable): Promise<string[]> => {
      const written: string[] = [];
      for (const write of WRITERS) written.push(...(await write(tx, items, this.#cipher)));
      return written;
    };
    const hasMore = items.some((item) => eventsOf(item).length > 0 || isDagResult(item));
    let isAwaited = false;
    const writeWithMore = async (tx: Queryable): Promise<string[]> => {
      const written = await writeAll(tx);
      const standing = new Set(written);
      const ended = items.filter((item) => standing.has(item.attempt.id));
      const results = ended.filter(isDagResult).map((item) => item.attempt.id);
      if (results.length > 0) await tx.run(markDagResults, [results]);
      const events = ended.flatMap(eventsOf);
      // Last, because others may wait for the queue rows.
      isAwaited = events.length > 0 && (await writeAssetEvents(tx, events)).some((event) => event.consumers > 0);
      return written;
    };
    const written = new Set(
      hasMore
        ? await this.#db.transaction(writeWithMore)
        : kinds.size > 1
          ? await this.#db.transaction(writeAll)
          : await writeAll(this.#db),
    );
    crashPoint("worker.finished");
    this.#tell(items.filter((item) => written.has(item.attempt.id)));
    if (isAwaited) this.#broker.wake([LOOK_AROUND]);
    return items.map((item) => written.has(item.attempt.id));
  }

  async #stands(attempt: ClaimedAttempt, ending: Ending): Promise<boolean> {
    const [row] = await this.#db.run(readAttempts, [[attempt.id]]);
    if (row === undefined) return false;
    if (ending.kind === "retry") return row.isHistory && row.epoch === attempt.epoch;
    if (row.isHistory) return false;
    // A wait may be over before its answer is known: then it has changed hands more than once.
    if (ending.kind !== "final")
      return row.epoch > attempt.epoch && row.state !== "restarting" && row.state !== "shutdown";
    return row.state === ending.state && row.epoch === attempt.epoch + 1;
  }

  #tell(items: readonly Item[]): void {
    this.#wake(items);
    if (items.some((item) => item.ending.kind === "deferred")) this.#broker.callTriggerers();
  }

  #wake(items: readonly Item[]): void {
    const byRun = new Map<number, string[]>();
    for (const { attempt, ending } of items) {
      // A delayed retry is found when it is due.
      if (ending.kind === "retry" && ending.delaySeconds > 0) continue;
      byRun.set(attempt.dagRunId, [...(byRun.get(attempt.dagRunId) ?? []), attempt.taskId]);
    }
    this.#broker.wake([...byRun].map(([dagRunId, taskIds]) => ({ dagRunId, taskIds })));
  }
}

interface Of<K extends Ending["kind"]> {
  readonly attempt: ClaimedAttempt;
  readonly ending: Extract<Ending, { kind: K }>;
}

const of = <K extends Ending["kind"]>(kind: K, items: readonly Item[]): readonly Of<K>[] =>
  items.filter((item): item is Of<K> => item.ending.kind === kind);

async function writeFinals(tx: Queryable, all: readonly Item[]): Promise<string[]> {
  const items = of("final", all);
  if (items.length === 0) return [];
  const results = items.filter((item) => item.ending.returnValue !== undefined);
  const rows = await tx.run(finishAttempts, [
    items.map((item) => item.attempt.id),
    items.map((item) => item.attempt.epoch),
    items.map((item) => item.ending.state),
    items.map((item) => item.ending.branchDecision ?? null),
    results.map((item) => item.attempt.id),
    results.map(() => "return_value"),
    results.map((item) => item.ending.returnValue ?? "null"),
    items.map((item) => item.ending.reason ?? null),
  ]);
  return rows.map((row) => row.id);
}

async function writeRetries(tx: Queryable, all: readonly Item[]): Promise<string[]> {
  const items = of("retry", all);
  if (items.length === 0) return [];
  const rows = await tx.run(retryAttempts, [
    items.map((item) => item.attempt.id),
    items.map((item) => item.attempt.epoch),
    items.map(() => newId()),
    items.map((item) => item.ending.delaySeconds),
    items.map((item) => item.ending.free),
    items.map(() => false),
    items.map((item) => item.ending.reason),
  ]);
  return rows.map((row) => row.id);
}

async function writeDeferrals(tx: Queryable, all: readonly Item[], cipher: Cipher): Promise<string[]> {
  const items = of("deferred", all);
  if (items.length === 0) return [];
  const waits = items.map((item) => item.ending.wait);
  const rows = await tx.run(deferAttempts, [
    items.map((item) => item.attempt.id),
    items.map((item) => item.attempt.epoch),
    waits.map((wait) => wait.trigger.name),
    items.map(({ attempt, ending }) =>
      sealKept(cipher, JSON.stringify(ending.wait.trigger.kwargs), triggerPlace(attempt.id, null)),
    ),
    waits.map((wait) => wait.trigger.queue ?? null),
    waits.map((wait) => wait.onEvent),
    items.map(({ attempt, ending }) =>
      sealKept(cipher, JSON.stringify(ending.wait.state), waitPlace(attempt, "state")),
    ),
    waits.map((wait) => wait.timeoutSeconds ?? null),
    waits.map((wait) => (wait.hitl === undefined ? null : JSON.stringify(wait.hitl))),
  ]);
  return rows.map((row) => row.id);
}

async function writeReschedules(tx: Queryable, all: readonly Item[]): Promise<string[]> {
  const items = of("rescheduled", all);
  if (items.length === 0) return [];
  const rows = await tx.run(rescheduleAttempts, [
    items.map((item) => item.attempt.id),
    items.map((item) => item.attempt.epoch),
    items.map((item) => item.ending.delaySeconds),
    items.map((item) => item.attempt.claimedAt),
  ]);
  return rows.map((row) => row.id);
}

const WRITERS = [writeFinals, writeRetries, writeDeferrals, writeReschedules];
