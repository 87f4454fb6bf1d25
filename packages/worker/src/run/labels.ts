// The labels of mapped task instances whose task has a `mapIndexTemplate`: made of the inputs before the handler runs, and
// again of what it returned. A label is for people: one that cannot be written keeps no attempt from its end.
import { renderMapIndex, type RunRequest, type TaskOutcome } from "@millrace/sdk/runtime";
import type { TaskSpec } from "@millrace/sdk/spec";
import { labelAttempts, type ClaimedAttempt, type Database } from "@millrace/shared/db";
import { messageOf } from "@millrace/shared/errors";
import { Batcher } from "@millrace/shared/lifecycle";
import type { Logger } from "@millrace/shared/observability";

interface Item {
  readonly attempt: ClaimedAttempt;
  readonly label: string;
}

export class Labels {
  readonly #log: Logger;
  readonly #writes: Batcher<Item, undefined>;

  constructor(db: Database, log: Logger) {
    this.#log = log;
    this.#writes = new Batcher({
      maxItems: 200,
      flush: async (items) => {
        await db.run(labelAttempts, [
          items.map(({ attempt }) => attempt.id),
          items.map(({ attempt }) => attempt.epoch),
          items.map(({ label }) => label),
        ]);
        return items.map(() => undefined);
      },
    });
  }

  async write(attempt: ClaimedAttempt, spec: TaskSpec, request: RunRequest, outcome?: TaskOutcome): Promise<void> {
    const template = spec.mapIndexTemplate;
    if (template === undefined || request.mapIndex < 0) return;
    const label = labelOf(template, request, outcome);
    // What came of it says nothing new.
    if (label === undefined || (outcome !== undefined && label === labelOf(template, request))) return;
    try {
      await this.#writes.add({ attempt, label });
    } catch (error) {
      this.#log.warn({ attempt: attempt.id, cause: messageOf(error) }, "the label of a mapped task was not written");
    }
  }
}

function labelOf(template: string, request: RunRequest, outcome?: TaskOutcome): string | undefined {
  const result = outcome?.kind === "success" ? outcome.returnValue : undefined;
  return renderMapIndex(template, { ...request, result });
}
