// For a process that shows what others wrote: knows every secret that can be listed, so that none is shown. Looked up
// again when what it knows is old; a place that cannot be read is told and the rest is hidden all the same.
import { messageOf } from "../errors/index.ts";
import type { Logger } from "../observability/index.ts";
import type { Redactor } from "./redactor.ts";
import type { Secrets } from "./secrets.ts";

/** A secret that was set a moment ago may be in no XCom yet that anybody looks at. */
const FRESH_MS = 5_000;

export class KnownSecrets {
  readonly #secrets: Secrets;
  readonly #log: Logger;
  #readAt = -Infinity;
  #reading: Promise<void> | undefined;
  /** Said once, and again when it changes. */
  #problems = "";

  constructor(secrets: Secrets, log: Logger) {
    this.#secrets = secrets;
    this.#log = log;
  }

  /** With all that is known now. Rejects when the database cannot be asked: then nothing is shown rather than a secret. */
  async redactor(): Promise<Redactor> {
    if (performance.now() - this.#readAt > FRESH_MS) {
      this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
      await this.#reading;
    }
    return this.#secrets.redactor;
  }

  async #read(): Promise<void> {
    const began = performance.now();
    let unread: unknown;
    const lists = await this.#secrets.listAll((place, error) => {
      this.#log.warn({ place, cause: messageOf(error) }, "secrets cannot be listed, so some may not be hidden");
      if (place === this.#secrets.stored.name) unread = error;
    });
    if (unread !== undefined) throw unread instanceof Error ? unread : new Error(messageOf(unread), { cause: unread });
    const { redactor } = this.#secrets;
    for (const { variables, connections } of lists) {
      for (const [key, value] of variables) redactor.addVariable(key, value);
      for (const connection of connections) redactor.addConnection(connection);
    }
    this.#tell(lists.flatMap(({ problems = [] }) => problems));
    this.#readAt = began;
  }

  /** What no key opens harms nothing else, but whoever shows what others wrote has to know that it could be in there. */
  #tell(problems: readonly string[]): void {
    const now = problems.join("\n");
    if (now !== this.#problems && problems.length > 0)
      this.#log.warn(
        { unreadable: problems.length },
        `secrets that cannot be read are not hidden in what is shown, the first because: ${problems[0]}`,
      );
    this.#problems = now;
  }
}
