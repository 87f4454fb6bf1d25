// What `+`, `<`, `in`, `[1:3]` and their like make of two values. `and` and `or` are not here: they may leave their right
// side unread (see expressions.ts).
import type { Budget } from "./budget.ts";
import { DateValue, DurationValue } from "./date-value.ts";
import { TemplateError } from "./template-error.ts";
import { compareValues, isEqual, isList, isMap, kindOf, textOf, Undefined, type Value } from "./values.ts";

/** @throws TemplateError when these two have no such operator between them */
export function applyOperator(operator: string, left: Value, right: Value, budget: Budget): Value {
  switch (operator) {
    case "==":
      return isEqual(left, right, budget);
    case "!=":
      return !isEqual(left, right, budget);
    case "<":
      return compareValues(left, right, budget) < 0;
    case "<=":
      return compareValues(left, right, budget) <= 0;
    case ">":
      return compareValues(left, right, budget) > 0;
    case ">=":
      return compareValues(left, right, budget) >= 0;
    case "in":
      return contains(right, left, budget);
    case "not in":
      return !contains(right, left, budget);
    case "~":
      return budget.text(textOf(left, budget) + textOf(right, budget));
    default:
      return calculate(operator, left, right, budget);
  }
}

function contains(whole: Value, part: Value, budget: Budget): boolean {
  if (whole instanceof Undefined) return whole.fail();
  if (part instanceof Undefined) return part.fail();
  if (typeof whole === "string" && typeof part === "string") return whole.includes(part);
  if (isMap(whole)) return typeof part === "string" && whole.has(part);
  if (isList(whole)) return whole.some((item) => isEqual(item, part, budget));
  throw new TemplateError(`nothing can be in ${kindOf(whole)}`);
}

function calculate(operator: string, left: Value, right: Value, budget: Budget): Value {
  if (left instanceof Undefined) return left.fail();
  if (right instanceof Undefined) return right.fail();
  const [a, b] = [left, right].map((value) => (typeof value === "boolean" ? Number(value) : value)) as [Value, Value]; // two in, two out
  if (typeof a === "number" && typeof b === "number") return arithmetic(operator, a, b);
  if (operator === "+" && typeof a === "string" && typeof b === "string") return budget.text(a + b);
  if (operator === "+" && isList(a) && isList(b)) {
    budget.items(a.length + b.length);
    return [...a, ...b];
  }
  if (operator === "*" && typeof a === "string" && typeof b === "number") {
    budget.length(a.length * Math.max(0, b));
    return a.repeat(Math.max(0, Math.trunc(b)));
  }
  const sign = operator === "+" ? 1 : operator === "-" ? -1 : undefined;
  if (sign !== undefined && b instanceof DurationValue) {
    if (a instanceof DateValue) return a.plus(sign * b.ms);
    if (a instanceof DurationValue) return new DurationValue(a.ms + sign * b.ms);
  }
  if (operator === "+" && a instanceof DurationValue && b instanceof DateValue) return b.plus(a.ms);
  if (operator === "-" && a instanceof DateValue && b instanceof DateValue)
    return new DurationValue(a.at.getTime() - b.at.getTime());
  if (operator === "*" && a instanceof DurationValue && typeof b === "number") return new DurationValue(a.ms * b);
  throw new TemplateError(`${kindOf(a)} ${operator} ${kindOf(b)} has no meaning`);
}

function arithmetic(operator: string, a: number, b: number): number {
  if (b === 0 && (operator === "/" || operator === "//" || operator === "%"))
    throw new TemplateError("a division by zero");
  switch (operator) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return a / b;
    case "//":
      return Math.floor(a / b);
    case "%":
      return a - b * Math.floor(a / b);
    case "**":
      return a ** b;
    default:
      throw new TemplateError(`there is no operator ${operator}`);
  }
}

export function sliceOf<T>(
  items: readonly T[],
  start: number | undefined,
  stop: number | undefined,
  step: number,
): T[] {
  if (step === 0) throw new TemplateError("the step of a slice is not 0");
  const { length } = items;
  const clamp = (at: number, low: number, high: number): number =>
    Math.min(high, Math.max(low, at < 0 ? at + length : at));
  const [from, to] =
    step > 0
      ? [clamp(start ?? 0, 0, length), stop === undefined ? length : clamp(stop, 0, length)]
      : [clamp(start ?? length - 1, -1, length - 1), stop === undefined ? -1 : clamp(stop, -1, length - 1)];
  const taken: T[] = [];
  for (let i = from; step > 0 ? i < to : i > to; i += step) {
    const item = items[i];
    if (item !== undefined) taken.push(item);
  }
  return taken;
}
