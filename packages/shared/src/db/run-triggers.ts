// Runs that many ask for at once, as a busy API does: those that come while a transaction is under way share the next one,
// and one that comes alone has its own at once. What is wrong with one of them harms no other.
import { Batcher } from "../lifecycle/index.ts";
import type { DagVersions } from "./dag-versions.ts";
import type { Database } from "./database.ts";
import { isRefused } from "./failures.ts";
import {
  createdOf,
  planTrigger,
  runKey,
  writeTriggers,
  type PlannedTrigger,
  type TriggeredRun,
  type TriggerRequest,
} from "./trigger-run.ts";

const AT_ONCE = 50;
const REST_MS = 4;

type Outcome = { readonly run: TriggeredRun | undefined } | { readonly refusal: unknown };

export class RunTriggers {
  readonly #db: Database;
  readonly #versions: DagVersions;
  readonly #batcher: Batcher<PlannedTrigger, Outcome>;

  constructor(db: Database, versions: DagVersions) {
    this.#db = db;
    this.#versions = versions;
    this.#batcher = new Batcher({ maxItems: AT_ONCE, restMs: REST_MS, flush: (all) => this.#flush(all) });
  }

  /**
   * Creates the run, queued. The caller wakes the schedulers after it.
   * @throws AppError as `triggerRun`
   */
  async trigger(request: TriggerRequest): Promise<TriggeredRun> {
    const planned = await planTrigger(this.#db, this.#versions, request);
    const outcome = await this.#batcher.add(planned);
    if ("refusal" in outcome) throw outcome.refusal;
    return createdOf(planned, outcome.run);
  }

  async #flush(all: readonly PlannedTrigger[]): Promise<Outcome[]> {
    // Of two for the same id the first has it.
    const first = new Map(all.toReversed().map((planned) => [runKey(planned.run), planned]));
    // In the order of their keys: two APIs that insert the same ids wait for each other, but never in a circle.
    const batch = [...first].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, planned]) => planned);
    const outcomes = new Map(await this.#write(batch));
    return all.map((planned) => outcomes.get(planned) ?? { run: undefined });
  }

  async #write(batch: readonly PlannedTrigger[]): Promise<(readonly [PlannedTrigger, Outcome])[]> {
    try {
      const created = await writeTriggers(this.#db, batch);
      return batch.map((planned, i) => [planned, { run: created[i] }] as const);
    } catch (error) {
      if (!isRefused(error)) throw error;
      const [only] = batch;
      if (batch.length === 1 && only !== undefined) return [[only, { refusal: error }]];
      // One of them cannot be stored: nothing was written, and each is tried by itself.
      const alone: (readonly [PlannedTrigger, Outcome])[] = [];
      for (const planned of batch) alone.push(...(await this.#write([planned])));
      return alone;
    }
  }
}
