// The warm children of a worker. One is handed out an attempt and comes back after it; a worn-out or dead one is replaced.
// A few are started ahead, more as attempts ask for them; the callers never ask for more than the worker's concurrency and
// two callbacks.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import type { Config } from "@millrace/shared/config";
import { plainProgram, type Service } from "@millrace/shared/lifecycle";
import { WarmChild } from "./warm-child.ts";

export class ChildPool implements Service {
  readonly #config: Config;
  readonly #idle: WarmChild[] = [];
  readonly #all = new Set<WarmChild>();
  #folder: string | undefined;
  #program = "";
  #stopped = false;

  constructor(config: Config) {
    this.#config = config;
  }

  async start(): Promise<void> {
    if (this.#folder !== undefined) return;
    this.#folder = await mkdtemp(join(tmpdir(), "millrace-child-"));
    this.#program = join(this.#folder, "child.mjs");
    await writeFile(this.#program, await plainProgram(import.meta.url, "./child"));
    const ahead = Math.min(this.#config.workers.concurrency, availableParallelism() * 2);
    for (let i = 0; i < ahead; i++) this.#idle.push(this.#spawn());
    await Promise.all(this.#idle.map((child) => child.ready));
  }

  async acquire(): Promise<WarmChild> {
    for (;;) {
      const child = this.#idle.pop() ?? this.#spawn();
      await child.ready;
      if (!child.isGone) return child;
      if (this.#stopped) throw new Error("the worker is stopping");
    }
  }

  release(child: WarmChild): void {
    const { child_max_tasks, child_max_rss_mb } = this.#config.workers;
    if (child.isGone) return;
    if (this.#stopped || child.isWornOut(child_max_tasks, child_max_rss_mb * 2 ** 20)) void child.kill();
    else this.#idle.push(child);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([...this.#all].map((child) => child.kill()));
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
  }

  #spawn(): WarmChild {
    const child = new WarmChild({
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
