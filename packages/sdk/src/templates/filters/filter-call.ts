// What a filter is given, and the ways of reading it that all filters share.
import { bind } from "../arguments.ts";
import type { Budget } from "../budget.ts";
import { itemOf, memberOf } from "../members.ts";
import { TemplateError } from "../template-error.ts";
import { isList, isMap, kindOf, lettersOf, textOf, Undefined, type Keywords, type Value } from "../values.ts";

export interface FilterCall {
  readonly value: Value;
  readonly args: readonly Value[];
  readonly keywords: Keywords;
  readonly budget: Budget;
}

export type Filter = (call: FilterCall) => Value;

/** What a filter is applied to, when it must be there. */
export const present = ({ value }: FilterCall): Value => (value instanceof Undefined ? value.fail() : value);
export const textIn = (call: FilterCall): string => textOf(present(call), call.budget);

export function listIn({ budget, ...call }: FilterCall): readonly Value[] {
  const value = present({ ...call, budget });
  if (typeof value === "string") return budget.list(lettersOf(value));
  if (isMap(value)) return budget.list([...value.keys()]);
  if (isList(value)) return budget.list(value);
  throw new TemplateError(`${kindOf(value)} is no list`);
}

export const named = (title: string, names: readonly string[], { args, keywords }: FilterCall) =>
  bind(title, names, args, keywords);

/** By `attribute`, which can be a path, or the item itself. */
export function keyOf(attribute: Value | undefined, budget: Budget): (item: Value) => Value {
  if (attribute === undefined || attribute === null) return (item) => item;
  const path = textOf(attribute, budget).split(".");
  return (item) => path.reduce((at: Value, step) => stepInto(at, step, budget), item);
}

const stepInto = (at: Value, step: string, budget: Budget): Value =>
  /^\d+$/.test(step) && isList(at) ? itemOf(at, Number(step), step, budget) : memberOf(at, step, step, budget);
