import { TemplateError } from "./template-error.ts";

/** The longest text that a template may make, in UTF-16 units. */
export const MAX_TEXT = 1024 * 1024;
/** The longest list. */
export const MAX_LIST = 100_000;
const MAX_STEPS = 1_000_000;
const MAX_MS = 5_000;
const CLOCK_EVERY = 256;

/** How much one field may cost: a template that loops ends its task, and not its worker. */
export class Budget {
  #steps = 0;
  readonly #until = performance.now() + MAX_MS;
  readonly #maxSteps: number;

  constructor(maxSteps: number = MAX_STEPS) {
    this.#maxSteps = maxSteps;
  }

  spend(steps = 1): void {
    const before = this.#steps;
    this.#steps += steps;
    if (this.#steps > this.#maxSteps) {
      throw new TemplateError(`it takes more than ${this.#maxSteps.toLocaleString("en")} steps: does it loop?`);
    }
    if (Math.floor(before / CLOCK_EVERY) === Math.floor(this.#steps / CLOCK_EVERY)) return;
    if (performance.now() > this.#until) {
      throw new TemplateError(`it takes longer than ${MAX_MS / 1000} seconds: does it loop?`);
    }
  }

  text(text: string): string {
    this.length(text.length);
    return text;
  }

  /** Asked before a text of this length is made. */
  length(length: number): void {
    if (length > MAX_TEXT) {
      throw new TemplateError(
        `it makes a text of more than ${MAX_TEXT.toLocaleString("en")} characters: does it loop?`,
      );
    }
  }

  list<T>(list: readonly T[]): readonly T[] {
    this.items(list.length);
    return list;
  }

  /** Asked before a list of this many is made. */
  items(count: number): void {
    this.spend(Math.ceil(Math.max(0, count) / 8));
    if (count > MAX_LIST)
      throw new TemplateError(`it makes a list of more than ${MAX_LIST.toLocaleString("en")} items`);
  }
}
