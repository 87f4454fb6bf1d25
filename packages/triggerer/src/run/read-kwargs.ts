// Reads the arguments of built-in triggers, which come from the database and may be anybody's. A wrong one fails its
// trigger with a sentence that names it.
import type { Json } from "@millrace/sdk/spec";

export class Kwargs {
  readonly #trigger: string;
  readonly #given: Readonly<Record<string, Json>>;

  constructor(trigger: string, given: Readonly<Record<string, Json>>) {
    this.#trigger = trigger;
    this.#given = given;
  }

  text(name: string): string {
    return this.textIfGiven(name) ?? this.wrong(name, "a string that is not empty");
  }

  textIfGiven(name: string): string | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    return typeof value === "string" && value !== "" ? value : this.wrong(name, "a string that is not empty");
  }

  texts(name: string): readonly string[] {
    return this.textsIfGiven(name) ?? [];
  }

  textsIfGiven(name: string): readonly string[] | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    const isList = Array.isArray(value) && value.every((item): item is string => typeof item === "string");
    return isList ? value : this.wrong(name, "a list of strings");
  }

  number(name: string, standard: number, min: number, max: number): number {
    const value = this.#value(name) ?? standard;
    const isGood = typeof value === "number" && value >= min && value <= max;
    return isGood ? value : this.wrong(name, `a number from ${min} to ${max}`);
  }

  flag(name: string): boolean {
    const value = this.#value(name) ?? false;
    return typeof value === "boolean" ? value : this.wrong(name, "true or false");
  }

  /** Milliseconds since 1970. */
  instantIfGiven(name: string): number | undefined {
    const value = this.textIfGiven(name);
    return value === undefined ? undefined : this.instant(name, value);
  }

  /** ISO 8601 in UTC. */
  instants(name: string): readonly string[] {
    return this.texts(name).map((value) => new Date(this.instant(name, value)).toISOString());
  }

  record(name: string): Readonly<Record<string, Json>> | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    const isRecord = typeof value === "object" && !Array.isArray(value);
    return isRecord ? (value as Readonly<Record<string, Json>>) : this.wrong(name, "an object");
  }

  json(name: string): Json | undefined {
    return this.#value(name);
  }

  /** How long until the next look. */
  pollMs(standard: number): number {
    return this.number("pollSeconds", standard, 0.05, 86_400) * 1000;
  }

  wrong(name: string, expected: string): never {
    const shown = JSON.stringify(this.#given[name]) ?? "missing";
    throw new Error(`${this.#trigger} needs \`${name}\` to be ${expected}; it is ${shown.slice(0, 200)}`);
  }

  private instant(name: string, value: string): number {
    const ms = /^\d{4}-\d{2}-\d{2}/.test(value) ? Date.parse(value) : NaN;
    return Number.isNaN(ms) ? this.wrong(name, "an ISO 8601 date") : ms;
  }

  /** Null is as good as missing. */
  #value(name: string): Json | undefined {
    return this.#given[name] ?? undefined;
  }
}
