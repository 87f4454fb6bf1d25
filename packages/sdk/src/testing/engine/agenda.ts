// What happens when, on a virtual clock: a heap of moments. Of two things due at one moment the one that was put in first
// comes first, so that the same seed gives the same history.

interface Due {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

const isBefore = (a: Due, b: Due): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);

export class Agenda {
  /** Milliseconds since the epoch. */
  now: number;
  readonly #heap: Due[] = [];
  #order = 0;

  constructor(now: number) {
    this.now = now;
  }

  get size(): number {
    return this.#heap.length;
  }

  /** What lies in the past happens now. */
  at(moment: number, run: () => void): void {
    const due = { at: Math.max(moment, this.now), order: this.#order++, run };
    const heap = this.#heap;
    let place = heap.length;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = heap[parent] as Due; // within the heap
      if (!isBefore(due, above)) break;
      heap[place] = above;
      place = parent;
    }
    heap[place] = due;
  }

  after(ms: number, run: () => void): void {
    this.at(this.now + ms, run);
  }

  /** Goes to the next moment and does what is due there. False when nothing is left, or nothing before `end`. */
  step(end = Infinity): boolean {
    const first = this.#heap[0];
    if (first === undefined || first.at > end) return false;
    this.#removeFirst();
    this.now = first.at;
    first.run();
    return true;
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop() as Due; // not empty
    const { length } = heap;
    if (length === 0) return;
    let place = 0;
    for (;;) {
      let child = place * 2 + 1;
      if (child >= length) break;
      if (child + 1 < length && isBefore(heap[child + 1] as Due, heap[child] as Due)) child++;
      const below = heap[child] as Due;
      if (!isBefore(below, last)) break;
      heap[place] = below;
      place = child;
    }
    heap[place] = last;
  }
}
