// Variables, connections, XComs: what a template asks for by names that only running it tells. The evaluator waits for
// nothing, so the first question throws; the answer is fetched, and the template is run again with it.
import type { Value } from "./values.ts";
import { Undefined } from "./values.ts";
import { TemplateError } from "./template-error.ts";

/** How much one field may ask for. */
const MAX_LOOKUPS = 100;

export class NotFetched extends Error {
  readonly key: string;
  readonly fetch: () => Promise<Value | undefined>;

  constructor(key: string, fetch: () => Promise<Value | undefined>) {
    super(`${key} is still to be fetched`);
    this.key = key;
    this.fetch = fetch;
  }
}

export class Lookups {
  readonly #known = new Map<string, Value>();

  /** @throws NotFetched the first time */
  get(key: string, what: string, why: string, fetch: () => Promise<Value | undefined>): Value {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    throw new NotFetched(key, async () => {
      const value = await fetch();
      return value === undefined ? new Undefined(what, why) : value;
    });
  }

  /** Runs `render` again and again until it asks for nothing new. */
  async complete<T>(render: () => T): Promise<T> {
    for (let asked = 0; asked <= MAX_LOOKUPS; asked++) {
      try {
        return render();
      } catch (thrown) {
        if (!(thrown instanceof NotFetched)) throw thrown;
        const value = await thrown.fetch();
        if (value !== undefined) this.#known.set(thrown.key, value);
      }
    }
    throw new TemplateError(`it asks for more than ${MAX_LOOKUPS} variables, connections and XComs`);
  }
}
