import type { Dag } from "./dag.ts";

/**
 * Accepted so that files written for Airflow's own TypeScript SDK run unchanged. Millrace finds every {@link Dag} that
 * a file constructs, registered or not, and starts the processes itself.
 */
export class Bundle {
  readonly dags: readonly Dag[];

  constructor(...dags: readonly Dag[]) {
    this.dags = dags;
  }

  /** Does nothing. */
  register(..._dags: readonly Dag[]): this {
    return this;
  }

  /** Does nothing: returns at once. */
  serve(): Promise<void> {
    return Promise.resolve();
  }
}
