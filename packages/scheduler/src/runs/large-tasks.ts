// Mapped tasks with very many instances: a look at one reads all of them, and each that ends asks for a look. After a look
// such a task rests for a time that grows with its size, so that looking takes a small part of a core however long the list
// is; what asks meanwhile is kept and looked at once, when the rest is over. It is over as soon as so many instances have
// ended as were going on: then something follows. Kept in one process: what is lost with it, the sweep finds.
import type { Clock } from "@millrace/shared/lifecycle";
import type { Wake } from "@millrace/shared/queue";

/** Looks at fewer cost less than a pass does by itself. */
const LARGE = 500;
/** A look takes about a microsecond and a half for each instance. */
const REST_MS_PER_INSTANCE = 0.1;
const LONGEST_REST_MS = 1_000;

/** By run: the tasks that changed, or null for the whole of it. */
export type Named = Map<number, Set<string> | null>;

export interface LookedAt {
  readonly dagRunId: number;
  readonly taskId: string;
  /** How many instances were read. */
  readonly size: number;
  /** How many of them had not ended. */
  readonly open: number;
}

interface Rest {
  /** On the process's clock. */
  until: number;
  /** How many have to end before anything else can be expected of it. */
  open: number;
}

export class LargeTasks {
  readonly #clock: Clock;
  /** By run, by task. */
  readonly #rests = new Map<number, Map<string, Rest>>();
  /** What asked meanwhile. */
  readonly #kept = new Map<number, Set<string>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Takes out of `named` what rests, and puts into it what has rested and was asked for.
   * @param wakes what has come since the last time: one that ended several instances of a task names it as often
   */
  sift(named: Named, wakes: readonly Wake[]): void {
    const now = this.#clock.now();
    for (const { dagRunId, taskIds } of wakes) {
      const rests = dagRunId === null ? undefined : this.#rests.get(dagRunId);
      if (rests === undefined) continue;
      for (const taskId of taskIds ?? []) {
        const rest = rests.get(taskId);
        if (rest !== undefined && --rest.open === 0) rest.until = now;
      }
    }
    for (const [dagRunId, tasks] of named) {
      const rests = this.#rests.get(dagRunId);
      if (tasks === null || rests === undefined) continue;
      for (const taskId of tasks) {
        if ((rests.get(taskId)?.until ?? 0) <= now) continue;
        tasks.delete(taskId);
        this.#kept.set(dagRunId, (this.#kept.get(dagRunId) ?? new Set()).add(taskId));
      }
      if (tasks.size === 0) named.delete(dagRunId);
    }
    for (const [dagRunId, rests] of this.#rests) {
      for (const [taskId, { until }] of rests) if (until <= now) rests.delete(taskId);
      if (rests.size === 0) this.#rests.delete(dagRunId);
    }
    for (const [dagRunId, tasks] of this.#kept) {
      const rested = [...tasks].filter((taskId) => this.#rests.get(dagRunId)?.has(taskId) !== true);
      if (rested.length === 0) continue;
      const known = named.get(dagRunId);
      if (known === undefined) named.set(dagRunId, new Set(rested));
      else for (const taskId of rested) known?.add(taskId);
    }
  }

  /** After a pass that succeeded: one that fails is followed by another, which has to look at the same. */
  looked(named: Named, at: readonly LookedAt[]): void {
    const now = this.#clock.now();
    for (const [dagRunId, tasks] of named) {
      const kept = this.#kept.get(dagRunId);
      for (const taskId of tasks ?? []) kept?.delete(taskId);
      if (tasks === null || kept?.size === 0) this.#kept.delete(dagRunId);
    }
    for (const { dagRunId, taskId, size, open } of at) {
      if (size < LARGE) continue;
      const rests = this.#rests.get(dagRunId) ?? new Map<string, Rest>();
      const until = now + Math.min(LONGEST_REST_MS, size * REST_MS_PER_INSTANCE);
      this.#rests.set(dagRunId, rests.set(taskId, { until, open }));
    }
  }

  /** When the first that was asked for has rested, on the process's clock. */
  get nextAt(): number {
    let next = Infinity;
    for (const [dagRunId, tasks] of this.#kept) {
      for (const taskId of tasks) next = Math.min(next, this.#rests.get(dagRunId)?.get(taskId)?.until ?? 0);
    }
    return next;
  }

  /** What was asked for and not looked at yet, for others: this scheduler stops. */
  handOver(): Wake[] {
    const wakes = [...this.#kept].map(([dagRunId, tasks]) => ({ dagRunId, taskIds: [...tasks] }));
    this.#kept.clear();
    return wakes;
  }
}
