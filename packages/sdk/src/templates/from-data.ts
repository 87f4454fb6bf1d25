// What tasks hand on, as a template sees it: dates are dates, maps are dicts, sets are lists. What has no form there is an
// error when it is used, and never an empty dict.
import { DateValue } from "./date-value.ts";
import { TemplateError } from "./template-error.ts";
import { Thing, type Value } from "./values.ts";

/** @param data of a handler: JSON, with what the codec of XComs carries beside it */
export function fromData(data: unknown): Value {
  switch (typeof data) {
    case "string":
    case "number":
    case "boolean":
      return data;
    case "undefined":
      return null;
    case "bigint":
      // A text keeps its digits; a double would not.
      return Number.isSafeInteger(Number(data)) ? Number(data) : String(data);
    case "object":
      return data === null ? null : fromObject(data);
    default:
      return new NoText(`a ${typeof data}`, "hand on the data that it would give");
  }
}

function fromObject(data: object): Value {
  if (Array.isArray(data)) return data.map((item: unknown) => fromData(item));
  if (data instanceof Date) return new DateValue(data);
  if (data instanceof Set) return Array.from(data as ReadonlySet<unknown>, fromData);
  if (data instanceof Map) return dictOf(data as ReadonlyMap<unknown, unknown>);
  if (data instanceof Uint8Array) return new NoText("bytes", "hand them on as base64, or as a file");
  const prototype: unknown = Object.getPrototypeOf(data);
  // A plain object of another realm has another Object.prototype, itself without one.
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
  if (isPlain) return new Map(Object.entries(data).map(([key, item]) => [key, fromData(item)]));
  return new NoText("a list that is read in pages, or another object with code", "hand on its values");
}

function dictOf(data: ReadonlyMap<unknown, unknown>): Value {
  if (Array.from(data.keys()).some((key) => typeof key === "object" && key !== null))
    return new NoText("a Map whose keys are no texts", "hand on an object, or a list of pairs");
  return new Map(Array.from(data, ([key, item]) => [String(key), fromData(item)]));
}

/** Without members, and nothing that can be written. */
class NoText extends Thing {
  readonly #what: string;
  readonly #advice: string;

  constructor(what: string, advice: string) {
    super();
    this.#what = what;
    this.#advice = advice;
  }

  override member(): undefined {
    return undefined;
  }

  override text(): string {
    throw new TemplateError(`${this.#what} cannot be written by a template: ${this.#advice}`);
  }
}
