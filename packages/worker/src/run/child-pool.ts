// The warm children of a worker. One is handed out an attempt and comes back after it; a worn-out or dead one is replaced.
// A few are started ahead, more as attempts ask for them; the callers never ask for more than the worker's concurrency and
// two callbacks.
// While as many children as there are cores have only just begun, whoever comes next waits for one of them: a handler that
// ends within moments leaves a child whose code is compiled and in the caches, where one that has slept costs five times as
// much. When none of them comes back for HOT_MS, they all go on at once, each in a child of its own.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import type { Config } from "@millrace/shared/config";
import { plainProgram, systemClock, type Clock, type Service, type Timer } from "@millrace/shared/lifecycle";
import { WarmChild, type ChildOptions } from "./warm-child.ts";

const HOT_MS = 5;

export type Child = Pick<
  WarmChild,
  "ready" | "exited" | "isGone" | "isWornOut" | "kill" | "run" | "runCallback" | "render" | "abort"
>;

export interface ChildPoolDeps {
  readonly config: Config;
  readonly clock?: Clock;
  /** Default: the machine's. */
  readonly cores?: number;
  readonly spawn?: (options: ChildOptions) => Child;
}

export class ChildPool implements Service {
  readonly #config: Config;
  readonly #clock: Clock;
  readonly #cores: number;
  readonly #start: (options: ChildOptions) => Child;
  readonly #idle: Child[] = [];
  readonly #all = new Set<Child>();
  /** When each that is at work was handed out. */
  readonly #begun = new Map<Child, number>();
  /** Given a child that came back, or nothing: then it takes another. */
  readonly #waiting: ((child: Child | undefined) => void)[] = [];
  #patience: Timer | undefined;
  #folder: string | undefined;
  #program = "";
  #stopped = false;

  constructor({ config, clock = systemClock, cores = availableParallelism(), spawn }: ChildPoolDeps) {
    this.#config = config;
    this.#clock = clock;
    this.#cores = cores;
    this.#start = spawn ?? ((options) => new WarmChild(options));
  }

  async start(): Promise<void> {
    if (this.#folder !== undefined) return;
    this.#folder = await mkdtemp(join(tmpdir(), "millrace-child-"));
    this.#program = join(this.#folder, "child.mjs");
    await writeFile(this.#program, await plainProgram(import.meta.url, "./child"));
    const ahead = Math.min(this.#config.workers.concurrency, this.#cores * 2);
    for (let i = 0; i < ahead; i++) this.#idle.push(this.#spawn());
    await Promise.all(this.#idle.map((child) => child.ready));
  }

  async acquire(): Promise<Child> {
    for (;;) {
      const hot = this.#areSomeHot() ? await this.#nextToComeBack() : undefined;
      if (this.#stopped) throw new Error("the worker is stopping");
      const child = hot ?? this.#idle.pop() ?? this.#spawn();
      this.#begun.set(child, this.#clock.now());
      await child.ready;
      if (!child.isGone) return child;
      this.#begun.delete(child);
    }
  }

  release(child: Child): void {
    const { child_max_tasks, child_max_rss_mb } = this.#config.workers;
    this.#begun.delete(child);
    if (child.isGone) return;
    if (this.#stopped || child.isWornOut(child_max_tasks, child_max_rss_mb * 2 ** 20)) {
      void child.kill();
      return;
    }
    const next = this.#waiting.shift();
    if (next === undefined) this.#idle.push(child);
    else {
      this.#begun.set(child, this.#clock.now());
      next(child);
    }
    this.#bePatient();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#loseNoTime();
    await Promise.all([...this.#all].map((child) => child.kill()));
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
  }

  #areSomeHot(): boolean {
    const since = this.#clock.now() - HOT_MS;
    let hot = 0;
    for (const at of this.#begun.values()) if (at > since) hot++;
    return hot >= this.#cores;
  }

  #nextToComeBack(): Promise<Child | undefined> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (this.#patience === undefined) this.#bePatient();
    });
  }

  #bePatient(): void {
    this.#patience?.cancel();
    if (this.#waiting.length === 0) {
      this.#patience = undefined;
      return;
    }
    const patience = this.#clock.after(HOT_MS, () => {
      // Not before what has come meanwhile is read: this process may have been busy itself.
      setImmediate(() => {
        if (this.#patience === patience) this.#loseNoTime();
      });
    });
    this.#patience = patience;
  }

  #loseNoTime(): void {
    this.#patience?.cancel();
    this.#patience = undefined;
    for (const resolve of this.#waiting.splice(0)) resolve(undefined);
  }

  #spawn(): Child {
    const child = this.#start({
      program: this.#program,
      heapMb: this.#config.workers.child_heap_mb,
      graceMs: this.#config.core.killed_task_cleanup_time * 1000,
    });
    this.#all.add(child);
    void child.exited.then(() => {
      this.#all.delete(child);
      const at = this.#idle.indexOf(child);
      if (at >= 0) this.#idle.splice(at, 1);
    });
    return child;
  }
}
