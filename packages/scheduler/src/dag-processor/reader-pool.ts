/** Runs jobs, each under a name of its own, a few at once, in the order in which they came. */
export class ReaderPool {
  readonly #size: number;
  readonly #waiting: { readonly name: string; readonly run: () => Promise<void> }[] = [];
  readonly #names = new Set<string>();
  readonly #active = new Set<Promise<void>>();
  #idle: (() => void)[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  /** Whether a job of this name waits or runs. */
  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** `run` never rejects. */
  add(name: string, run: () => Promise<void>): void {
    if (this.#names.has(name)) return;
    this.#names.add(name);
    this.#waiting.push({ name, run });
    this.#fill();
  }

  async idle(): Promise<void> {
    if (this.#names.size > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #fill(): void {
    while (this.#active.size < this.#size) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      const job = next.run().finally(() => {
        this.#active.delete(job);
        this.#names.delete(next.name);
        this.#fill();
      });
      this.#active.add(job);
    }
    if (this.#names.size === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }
}
