import { stackAt, type CallSite } from "../authoring/call-site.ts";
import type { DagProblem } from "../runtime/protocol.ts";

/** Collects what is wrong with a DAG, so that its author sees everything at once. */
export class Problems {
  readonly #found: DagProblem[] = [];

  add(message: string, at: CallSite): void {
    const stack = stackAt(at, message);
    this.#found.push(stack === undefined ? { message } : { message, stack });
  }

  get all(): readonly DagProblem[] {
    return this.#found;
  }
}
