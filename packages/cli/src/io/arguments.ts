// Readers of arguments. What they refuse becomes a usage error that names the option.
import { InvalidArgumentError } from "commander";

export const wholeNumber =
  (min: number, max = 2_147_483_647) =>
  (given: string): number => {
    const value = Number(given);
    if (given.trim() === "" || !Number.isInteger(value) || value < min || value > max) {
      throw new InvalidArgumentError(`Give a whole number from ${min}${max === 2_147_483_647 ? "" : ` to ${max}`}.`);
    }
    return value;
  };

export function jsonObject(given: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(given);
  } catch (error) {
    throw new InvalidArgumentError(`It is not JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new InvalidArgumentError('Give a JSON object, as in {"region": "eu"}.');
  }
  // Just seen to be an object.
  return value as Record<string, unknown>;
}

/** ISO 8601; without an offset it is UTC, as every time that Millrace prints. */
export function instant(given: string): Date {
  const hasOffset = /(?:z|[+-]\d\d:?\d\d)$/i.test(given);
  const isDateOnly = /^\d{4}-\d\d-\d\d$/.test(given);
  const value = new Date(hasOffset || isDateOnly ? given : `${given.replace(" ", "T")}Z`);
  if (!/^\d{4}-\d\d-\d\d/.test(given) || Number.isNaN(value.getTime())) {
    throw new InvalidArgumentError("Give a date as in 2026-01-31 or 2026-01-31T08:00:00+01:00; UTC unless it says so.");
  }
  return value;
}

/** -1 for a task that is not mapped. */
export const mapIndex = wholeNumber(-1);
