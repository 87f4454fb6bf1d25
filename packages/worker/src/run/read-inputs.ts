// The named arguments of a handler: literals, and results of upstream tasks or a field of them. Batched over attempts.
// The result of a task that was skipped, or returned nothing, is absent.
import { fieldAt } from "@millrace/sdk/runtime";
import type { InputSpec, Json, TaskSpec } from "@millrace/sdk/spec";
import { readXComs, type ClaimedAttempt, type Database } from "@millrace/shared/db";
import { Batcher } from "@millrace/shared/lifecycle";

interface Key {
  readonly dagId: string;
  readonly runId: string;
  readonly taskId: string;
}

export class Inputs {
  readonly #reads: Batcher<Key, Json | undefined>;

  constructor(db: Database) {
    this.#reads = new Batcher({
      maxItems: 500,
      flush: async (keys) => {
        const rows = await db.run(readXComs, [
          keys.map((key) => key.dagId),
          keys.map((key) => key.runId),
          keys.map((key) => key.taskId),
          keys.map(() => -1),
          keys.map(() => "return_value"),
        ]);
        const values = new Map(rows.map((row) => [row.ordinal, row.value as Json]));
        return keys.map((_key, i) => values.get(i + 1));
      },
    });
  }

  async of(attempt: ClaimedAttempt, spec: TaskSpec): Promise<Record<string, Json>> {
    const entries = await Promise.all(
      Object.entries(spec.inputs).map(async ([name, input]) => [name, await this.#value(attempt, input)] as const),
    );
    return Object.fromEntries(entries.filter((entry): entry is [string, Json] => entry[1] !== undefined));
  }

  async #value(attempt: ClaimedAttempt, input: InputSpec): Promise<Json | undefined> {
    if (input.kind === "literal") return input.value;
    const { dagId, runId } = attempt;
    const value = await this.#reads.add({ dagId, runId, taskId: input.taskId });
    return fieldAt(value, input.path);
  }
}
