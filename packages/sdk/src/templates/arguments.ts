// Arguments of functions, methods and filters, as Python binds them: by place, or by name.
import { TemplateError } from "./template-error.ts";
import { kindOf, Undefined, type Keywords, type Value } from "./values.ts";

/** The arguments in the order of `names`; `undefined` where none is given. */
export function bind(
  title: string,
  names: readonly string[],
  args: readonly Value[],
  keywords: Keywords,
): (Value | undefined)[] {
  if (args.length > names.length) {
    throw new TemplateError(`${title}() takes at most ${names.length} arguments, got ${args.length}`);
  }
  const bound: (Value | undefined)[] = names.map((_name, i) => args[i]);
  for (const [key, value] of keywords) {
    const at = names.indexOf(key);
    if (at < 0) throw new TemplateError(`${title}() has no argument "${key}"`);
    if (bound[at] !== undefined) throw new TemplateError(`${title}() is given "${key}" twice`);
    bound[at] = value;
  }
  for (const value of bound) if (value instanceof Undefined) value.fail();
  return bound;
}

export function needText(title: string, value: Value | undefined): string {
  if (typeof value === "string") return value;
  throw new TemplateError(`${title} must be a text, got ${value === undefined ? "nothing" : kindOf(value)}`);
}

export function needNumber(title: string, value: Value | undefined): number {
  if (typeof value === "number") return value;
  throw new TemplateError(`${title} must be a number, got ${value === undefined ? "nothing" : kindOf(value)}`);
}

export function needInteger(title: string, value: Value | undefined): number {
  const number = needNumber(title, value);
  if (!Number.isSafeInteger(number)) throw new TemplateError(`${title} must be a whole number, got ${number}`);
  return number;
}
