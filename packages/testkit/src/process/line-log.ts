// The output of a process by lines, and waiting for one of them.
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";

interface Waiter {
  readonly pattern: RegExp;
  readonly found: (line: string) => void;
  readonly failed: (why: string) => void;
}

export class LineLog {
  readonly lines: string[] = [];
  readonly #name: string;
  readonly #waiters = new Set<Waiter>();
  #ended = false;

  constructor(name: string) {
    this.#name = name;
  }

  read(stream: Readable): void {
    createInterface({ input: stream }).on("line", (line) => {
      this.lines.push(line);
      for (const waiter of this.#waiters) if (waiter.pattern.test(line)) waiter.found(line);
    });
  }

  end(): void {
    this.#ended = true;
    for (const waiter of this.#waiters) waiter.failed("ended without it");
  }

  waitFor(pattern: RegExp, timeoutMs: number): Promise<string> {
    const seen = this.lines.find((line) => pattern.test(line));
    if (seen !== undefined) return Promise.resolve(seen);
    return new Promise((resolve, reject) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
      };
      const waiter: Waiter = {
        pattern,
        found: (line) => {
          done();
          resolve(line);
        },
        failed: (why) => {
          done();
          reject(new Error(`Waited for ${String(pattern)}, but ${this.#name} ${why}. Its last lines:\n${this.tail()}`));
        },
      };
      const timer = setTimeout(() => waiter.failed(`did not write it within ${timeoutMs} ms`), timeoutMs);
      this.#waiters.add(waiter);
      if (this.#ended) waiter.failed("ended without it");
    });
  }

  tail(): string {
    return this.lines.slice(-30).join("\n");
  }
}
