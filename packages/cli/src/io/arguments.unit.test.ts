import { expect, test } from "vitest";
import { instant, jsonObject, wholeNumber } from "./arguments.ts";

test.each([
  ["2026-01-31", "2026-01-31T00:00:00.000Z"],
  ["2026-01-31T08:00:00", "2026-01-31T08:00:00.000Z"],
  ["2026-01-31 08:00", "2026-01-31T08:00:00.000Z"],
  ["2026-01-31T08:00:00+01:00", "2026-01-31T07:00:00.000Z"],
  ["2026-01-31T08:00:00Z", "2026-01-31T08:00:00.000Z"],
])("a date is UTC unless it says so: %s", (given, iso) => {
  expect(instant(given).toISOString()).toBe(iso);
});

test.each(["", "31.1.2026", "2026-13-01", "now"])("what is no date is refused: %s", (given) => {
  expect(() => instant(given)).toThrow("Give a date");
});

test.each(["", "1.5", "x", "-1", "11"])("a number outside of its bounds is refused: %s", (given) => {
  expect(() => wholeNumber(0, 10)(given)).toThrow("Give a whole number from 0 to 10");
});

test("a conf is an object", () => {
  expect(jsonObject('{"a": [1]}')).toEqual({ a: [1] });
  for (const given of ["1", "null", "[]", '"a"', "{a: 1}"]) expect(() => jsonObject(given)).toThrow(/JSON/);
});
