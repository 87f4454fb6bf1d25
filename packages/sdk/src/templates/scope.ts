// The names that a template has given values so far: each block sees its own and those around it.
import { Thing, type Value } from "./values.ts";

export class Scope {
  readonly #own = new Map<string, Value>();
  readonly #outer: Scope | undefined;

  constructor(outer?: Scope) {
    this.#outer = outer;
  }

  get(name: string): Value | undefined {
    const own = this.#own.get(name);
    return own === undefined ? this.#outer?.get(name) : own; // null is a value: None
  }

  set(name: string, value: Value): void {
    this.#own.set(name, value);
  }
}

/** A namespace: the one thing that a loop can write to. */
export class Namespace extends Thing {
  readonly members: Map<string, Value>;

  constructor(members: ReadonlyMap<string, Value>) {
    super();
    this.members = new Map(members);
  }

  override member(name: string): Value | undefined {
    return this.members.get(name);
  }

  override text(): string {
    return "<namespace>";
  }
}
