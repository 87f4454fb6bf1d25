// Waits sorted by the moment at which they are due: a binary heap in two typed arrays, twelve bytes a wait. Nothing else is
// kept of one. Ties come out in no particular order.

const START = 64;

export class TimeHeap {
  #due = new Float64Array(START);
  #ids = new Int32Array(START);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** When the first is due; Infinity when there is none. */
  get nextDue(): number {
    return this.#size === 0 ? Infinity : (this.#due[0] as number);
  }

  add(id: number, due: number): void {
    if (this.#size === this.#ids.length) this.#resize(this.#size * 2);
    this.#place(this.#size++, id, due);
  }

  /** Takes the ids of up to `limit` that are due at `now`, the earliest first, with their moments. */
  takeDue(now: number, limit: number): { readonly id: number; readonly due: number }[] {
    const taken: { id: number; due: number }[] = [];
    while (this.#size > 0 && taken.length < limit && (this.#due[0] as number) <= now) {
      taken.push({ id: this.#ids[0] as number, due: this.#due[0] as number });
      const last = --this.#size;
      if (last > 0) this.#sink(0, this.#ids[last] as number, this.#due[last] as number);
    }
    if (this.#ids.length > START && this.#size * 4 < this.#ids.length) this.#resize(this.#ids.length / 2);
    return taken;
  }

  /** A copy, sorted. */
  ids(): Int32Array {
    return this.#ids.slice(0, this.#size).sort();
  }

  /** Keeps those for which `isKept` says so. */
  retain(isKept: (id: number) => boolean): void {
    let kept = 0;
    for (let at = 0; at < this.#size; at++) {
      if (!isKept(this.#ids[at] as number)) continue;
      this.#ids[kept] = this.#ids[at] as number;
      this.#due[kept] = this.#due[at] as number;
      kept++;
    }
    this.#size = kept;
    for (let at = (kept >> 1) - 1; at >= 0; at--) this.#sink(at, this.#ids[at] as number, this.#due[at] as number);
  }

  #resize(length: number): void {
    const [due, ids] = [new Float64Array(length), new Int32Array(length)];
    due.set(this.#due.subarray(0, this.#size));
    ids.set(this.#ids.subarray(0, this.#size));
    [this.#due, this.#ids] = [due, ids];
  }

  /** Puts an entry at `at` or nearer to the top. */
  #place(at: number, id: number, due: number): void {
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if ((this.#due[parent] as number) <= due) break;
      this.#move(parent, at);
      at = parent;
    }
    this.#due[at] = due;
    this.#ids[at] = id;
  }

  /** Puts an entry at `at` or farther from the top. */
  #sink(at: number, id: number, due: number): void {
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.#size) break;
      if (child + 1 < this.#size && (this.#due[child + 1] as number) < (this.#due[child] as number)) child++;
      if ((this.#due[child] as number) >= due) break;
      this.#move(child, at);
      at = child;
    }
    this.#due[at] = due;
    this.#ids[at] = id;
  }

  #move(from: number, to: number): void {
    this.#due[to] = this.#due[from] as number;
    this.#ids[to] = this.#ids[from] as number;
  }
}
