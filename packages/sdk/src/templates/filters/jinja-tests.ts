// The tests of Jinja: what may stand behind `is`, and in `select` and `reject`.
import { needNumber } from "../arguments.ts";
import type { Budget } from "../budget.ts";
import { TemplateError } from "../template-error.ts";
import { compareValues, isEqual, isList, isMap, Undefined, type Value } from "../values.ts";

/** `value is test`. @throws TemplateError when there is no such test */
export function testValue(test: string, value: Value, argument: Value | undefined, budget: Budget): boolean {
  if (test === "defined") return !(value instanceof Undefined);
  if (test === "undefined") return value instanceof Undefined;
  if (value instanceof Undefined) return value.fail();
  switch (test) {
    case "none":
      return value === null;
    case "true":
      return value === true;
    case "false":
      return value === false;
    case "boolean":
      return typeof value === "boolean";
    case "string":
      return typeof value === "string";
    case "number":
      return typeof value === "number";
    case "integer":
      return Number.isInteger(value);
    case "float":
      return typeof value === "number" && !Number.isInteger(value);
    case "odd":
      return Math.abs(needNumber("the value", value)) % 2 === 1;
    case "even":
      return needNumber("the value", value) % 2 === 0;
    case "iterable":
    case "sequence":
      return typeof value === "string" || isList(value) || isMap(value);
    case "mapping":
      return isMap(value);
    case "lower":
      return typeof value === "string" && value === value.toLowerCase();
    case "upper":
      return typeof value === "string" && value === value.toUpperCase();
    case "divisibleby":
      return needNumber("the value", value) % needNumber("the divisor", argument) === 0;
    case "eq":
    case "equalto":
    case "==":
      return isEqual(value, argument ?? null, budget);
    case "ne":
    case "!=":
      return !isEqual(value, argument ?? null, budget);
    case "gt":
    case "greaterthan":
    case ">":
      return compareValues(value, argument ?? null, budget) > 0;
    case "ge":
    case ">=":
      return compareValues(value, argument ?? null, budget) >= 0;
    case "lt":
    case "lessthan":
    case "<":
      return compareValues(value, argument ?? null, budget) < 0;
    case "le":
    case "<=":
      return compareValues(value, argument ?? null, budget) <= 0;
    case "in":
      return isList(argument ?? null) && (argument as readonly Value[]).some((item) => isEqual(item, value, budget)); // just seen to be a list
    default:
      throw new TemplateError(`there is no test "${test}"`);
  }
}
