/**
 * The places of a consumer. Workers that look at the same moment all see them free: what was taken beyond them waits for
 * its turn, and is given up when the consumer pauses. It is a hint, and what is still queued is sent again.
 */
export class Places {
  #free: number;
  #isClosed = false;
  readonly #turns: ((isMine: boolean) => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** False: there is no place any more. */
  async enter(): Promise<boolean> {
    // Also what was taken while the consumer paused: nobody waits for what would begin now.
    if (this.#isClosed) return false;
    if (this.#free === 0) return await new Promise<boolean>((resolve) => this.#turns.push(resolve));
    this.#free--;
    return true;
  }

  leave(): void {
    const next = this.#turns.shift();
    if (next === undefined) this.#free++;
    else next(true);
  }

  close(): void {
    this.#isClosed = true;
    for (const turn of this.#turns.splice(0)) turn(false);
  }
}
