// Rendered options as an operator needs them. With `renderTemplateAsNativeObj` a template may give what is no text.
import type { RenderedFields } from "../templates/render-fields.ts";
import { show } from "../reading/checks.ts";

/** @throws TypeError when it is no text and no number or boolean */
export function textField(fields: RenderedFields, name: string): string {
  return textOf(fields[name], name);
}

function textOf(value: unknown, name: string): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  throw new TypeError(`${name} must be a string, got ${show(value)}`);
}

/** An object of texts; none for an option that is not given. */
export function textsField(fields: RenderedFields, name: string): Record<string, string> {
  const value = fields[name];
  if (value === undefined || value === null) return {};
  if (typeof value !== "object" || Array.isArray(value))
    throw new TypeError(`${name} must be an object, got ${show(value)}`);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, textOf(item, `${name}.${key}`)]));
}

/** An array of texts; none for an option that is not given. */
export function textListField(fields: RenderedFields, name: string): string[] {
  const value = fields[name];
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new TypeError(`${name} must be an array, got ${show(value)}`);
  return value.map((item, i) => textOf(item, `${name}[${i}]`));
}
