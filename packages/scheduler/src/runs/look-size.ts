// How many runs one pass reads whole: about as many task instances, whether in a few large runs or many small ones. What has
// just ended waits behind them for its turn.
const ROWS = 2_000;

export class LookSize {
  readonly #most: number;
  #rowsPerRun = 1;

  constructor(most: number) {
    this.#most = most;
  }

  get runs(): number {
    return Math.max(1, Math.min(this.#most, Math.floor(ROWS / this.#rowsPerRun)));
  }

  /** Those that were read last tell how large the next are. */
  note(read: readonly { readonly rows: number }[]): void {
    if (read.length === 0) return;
    this.#rowsPerRun = Math.max(1, read.reduce((sum, { rows }) => sum + rows, 0) / read.length);
  }
}
