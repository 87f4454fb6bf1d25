// Rendered options as an operator needs them. With `renderTemplateAsNativeObj` a template may give what is no text.
import { isValueRef } from "../authoring/refs.ts";
import { show, type Check } from "../reading/checks.ts";
import { isTemplate } from "../templates/parse-template.ts";
import { withoutReferences } from "../templates/field-inputs.ts";
import type { RenderedFields } from "../templates/render-fields.ts";

/** A check of an option whose value may also come from a function, a template or another task: it is then looked at there. */
export const orTemplate =
  (check: Check): Check =>
  (value) =>
    typeof value === "function" || isValueRef(value) || (typeof value === "string" && isTemplate(value))
      ? undefined
      : check(withoutReferences(value));

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

const ISO = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/;

/** A Date, or a text of ISO 8601 as templates write dates: without a zone it is UTC. */
export function dateField(fields: RenderedFields, name: string): Date {
  const value = fields[name];
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value;
  const found = typeof value === "string" ? ISO.exec(value) : null;
  if (typeof value === "string" && found !== null) {
    const at = new Date(
      value.length === 10 || found[1] !== undefined ? value.replace(" ", "T") : `${value.replace(" ", "T")}Z`,
    );
    if (!Number.isNaN(at.getTime())) return at;
  }
  throw new TypeError(`${name} must be a Date or a date of ISO 8601, got ${show(value)}`);
}
