// Takes triggers from the table, as many as there is room for. A few are taken at once, without asking who else there is;
// of a burst each triggerer takes its share, and the rest of it only after a while in which nobody else did. A triggerer
// that has more than its share lets the others go first.
import {
  claimTriggers,
  surveyTriggers,
  type ClaimedTrigger,
  type Database,
  type TriggerSurvey,
} from "@millrace/shared/db";
import type { Config } from "@millrace/shared/config";

export interface AssignerDeps {
  readonly db: Database;
  readonly config: Config;
  readonly jobId: () => number;
  /** How many this triggerer has now. */
  readonly size: () => number;
  readonly take: (claimed: readonly ClaimedTrigger[]) => void;
  readonly pause: (ms: number) => Promise<void>;
  readonly isStopping: () => boolean;
}

const FEW = 16;
const MANY = 5_000;
const YIELD_MS = 30;
/** How long others are given to take what is theirs. */
const GRACE_MS = 500;

export class Assigner {
  readonly #deps: AssignerDeps;
  #mayHaveMore = true;

  constructor(deps: AssignerDeps) {
    this.#deps = deps;
  }

  /** Takes what there is to take for this triggerer. */
  async assign(): Promise<void> {
    if (!this.#mayHaveMore) await this.#deps.pause(YIELD_MS * (1 + Math.random()));
    if ((await this.#claim(FEW)) < FEW) return;
    for (let isLate = false; this.#room() > 0 && !this.#deps.isStopping();) {
      const survey = await this.survey();
      if (survey.open === 0) return;
      const share = Math.ceil((survey.open + survey.held) / survey.peers) - survey.mine;
      const limit = isLate ? Math.ceil(survey.open / survey.peers) : share;
      if (limit <= 0) {
        await this.#deps.pause(GRACE_MS * (1 + Math.random()));
        isLate = true;
        continue;
      }
      isLate = false;
      if ((await this.#claim(Math.min(limit, MANY))) === 0) {
        // Others hold the rows at this moment: they are claiming them.
        await this.#deps.pause(YIELD_MS);
      }
    }
  }

  async survey(): Promise<TriggerSurvey> {
    const { db, config, jobId } = this.#deps;
    const [survey] = await db.run(surveyTriggers, [
      jobId(),
      config.triggerer.triggerer_health_check_threshold,
      queuesOf(config),
    ]);
    if (survey === undefined) throw new Error("the survey of triggers gave no row");
    this.#mayHaveMore = survey.mine * survey.peers <= survey.held;
    return survey;
  }

  #room(): number {
    return this.#deps.config.triggerer.capacity - this.#deps.size();
  }

  async #claim(wanted: number): Promise<number> {
    const { db, config, jobId, take } = this.#deps;
    const limit = Math.min(wanted, this.#room());
    if (limit <= 0) return 0;
    const claimed = await db.run(claimTriggers, [jobId(), limit, queuesOf(config)]);
    take(claimed);
    return claimed.length;
  }
}

/** Null for a triggerer that names none. */
export const queuesOf = (config: Config): readonly string[] | null =>
  config.triggerer.queues.length === 0 ? null : config.triggerer.queues;
