// The labels of mapped task instances, as their children render them. Those of many are written at once.
import { labelAttempts, type ClaimedAttempt, type Database } from "@millrace/shared/db";
import { Batcher } from "@millrace/shared/lifecycle";
import type { Redactor } from "@millrace/shared/secrets";

/** In characters, as the column is wide. */
const MAX_LABEL = 250;

type Attempt = Pick<ClaimedAttempt, "id" | "epoch">;

interface Item {
  readonly attempt: Attempt;
  readonly label: string;
}

export class Labels {
  readonly #redactor: Pick<Redactor, "redactValue">;
  readonly #writes: Batcher<Item, undefined>;

  constructor(db: Database, redactor: Pick<Redactor, "redactValue">) {
    this.#redactor = redactor;
    this.#writes = new Batcher({
      maxItems: 200,
      flush: async (items) => {
        // What an attempt said last counts.
        const last = [...new Map(items.map((item) => [item.attempt.id, item])).values()];
        await db.run(labelAttempts, [
          last.map(({ attempt }) => attempt.id),
          last.map(({ attempt }) => attempt.epoch),
          last.map(({ label }) => label),
        ]);
        return items.map(() => undefined);
      },
    });
  }

  async write(attempt: Attempt, label: string): Promise<void> {
    // Masked whole: half a secret would not be found. Postgres keeps no zero byte in a text.
    const masked = String(this.#redactor.redactValue(label)).replaceAll("\u0000", "");
    await this.#writes.add({ attempt, label: Array.from(masked).slice(0, MAX_LABEL).join("") });
  }
}
