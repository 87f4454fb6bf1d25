// One look at the database for all pages that watch, at most every half second and only while there is one. It holds no
// rules: it tells what the rows say. After more changes than it may read at once it says `reset`, and pages load anew.
import {
  advanceChangeCursor,
  listPauseChanges,
  listRunChanges,
  listTaskChanges,
  readChangeCursor,
  type ChangeCursor,
  type Reader,
} from "@millrace/shared/db";
import { messageOf } from "@millrace/shared/errors";
import { Periodic, type Clock, type Service } from "@millrace/shared/lifecycle";
import type { Logger } from "@millrace/shared/observability";
import type { LiveEvents } from "../types/events.ts";
import { presentRunChange, presentTaskChange } from "./present-change.ts";

const EVERY_MS = 500;
const MAX_CHANGES = 1_000;

export interface Watcher {
  /** Undefined: runs of every DAG, and no tasks. */
  readonly dagId: string | undefined;
  readonly runId: string | undefined;
  readonly push: (message: LiveMessage) => void;
}

export type LiveMessage =
  | { [K in keyof LiveEvents]: { readonly event: K; readonly data: LiveEvents[K] } }[keyof LiveEvents]
  | { readonly event: "reset"; readonly data: Record<string, never> };

export class LiveFeed implements Service {
  readonly #db: Reader;
  readonly #polls: Periodic;
  readonly #watchers = new Set<Watcher>();
  #cursor: Promise<ChangeCursor> | undefined;
  #seen = new Set<string>();
  #seenTasks = new Map<string, number>();
  #stopping: Promise<void> = Promise.resolve();

  constructor(options: { readonly db: Reader; readonly log: Logger; readonly clock: Clock }) {
    this.#db = options.db;
    this.#polls = new Periodic({
      everyMs: EVERY_MS,
      clock: options.clock,
      run: async () => await this.#poll(),
      onError: (error) => options.log.warn({ cause: messageOf(error) }, "changes for open pages could not be read"),
    });
  }

  get watching(): number {
    return this.#watchers.size;
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  /** Resolves when every change from now on will be pushed. */
  async watch(watcher: Watcher): Promise<() => void> {
    this.#watchers.add(watcher);
    const leave = (): void => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) this.#stopping = this.stop();
    };
    // RACE: who turns a page leaves and comes back at once; the look of before must be over, or two would take turns.
    await this.#stopping;
    try {
      this.#cursor ??= readChangeCursor(this.#db);
      await this.#cursor;
    } catch (error) {
      this.#cursor = undefined;
      leave();
      throw error;
    }
    await this.#polls.start();
    return leave;
  }

  async stop(): Promise<void> {
    this.#cursor = undefined;
    this.#seen = new Set();
    this.#seenTasks = new Map();
    await this.#polls.stop();
  }

  async #poll(): Promise<void> {
    const cursor = await this.#cursor;
    if (cursor === undefined) return;
    const [runs, pauses] = await Promise.all([
      listRunChanges(this.#db, cursor, MAX_CHANGES),
      listPauseChanges(this.#db, cursor),
    ]);
    if (runs.length >= MAX_CHANGES) {
      this.#cursor = readChangeCursor(this.#db);
      await this.#cursor;
      for (const watcher of this.#watchers) watcher.push({ event: "reset", data: {} });
      return;
    }
    const dagIds = [...new Set([...this.#watchers].flatMap((watcher) => watcher.dagId ?? []))];
    const changedRuns = runs.filter((run) => dagIds.includes(run.dagId));
    const tasks = dagIds.length === 0 ? [] : await listTaskChanges(this.#db, dagIds, changedRuns);

    // Each look returns all of the look-back, so remembering one look is enough to tell what is new.
    for (const run of runs) if (!this.#seen.has(run.change)) this.#push({ event: "run", data: presentRunChange(run) });
    for (const task of tasks) {
      if (this.#seenTasks.get(task.id) === task.epoch) continue;
      this.#push({ event: "task_instance", data: presentTaskChange(task) });
    }
    for (const { id, dagId, isPaused } of pauses) {
      if (!this.#seen.has(`p${id}`)) this.#push({ event: "dag", data: { dag_id: dagId, is_paused: isPaused } });
    }
    this.#seen = new Set([...runs.map((run) => run.change), ...pauses.map((pause) => `p${pause.id}`)]);
    this.#seenTasks = new Map(tasks.map((task) => [task.id, task.epoch]));
    const advanced = await advanceChangeCursor(this.#db, cursor);
    if (this.#cursor !== undefined) this.#cursor = Promise.resolve(advanced);
  }

  #push(message: Exclude<LiveMessage, { event: "reset" }>): void {
    for (const watcher of this.#watchers) {
      if (watcher.dagId !== undefined && watcher.dagId !== message.data.dag_id) continue;
      if (message.event === "task_instance" && watcher.dagId === undefined) continue;
      if ("dag_run_id" in message.data && watcher.runId !== undefined && watcher.runId !== message.data.dag_run_id) {
        continue;
      }
      watcher.push(message);
    }
  }
}
