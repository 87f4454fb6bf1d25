import { describe, expect, it } from "vitest";
import { checkParams } from "./check-params.ts";

const schemas = {
  day: { type: "string", format: "date" },
  count: { type: "integer", minimum: 1, default: 3 },
  free: {},
};

describe("params", () => {
  it("take their defaults, and what fits their schemas", () => {
    expect(checkParams(schemas, { day: "2026-01-31", free: [1] })).toEqual({
      values: { day: "2026-01-31", count: 3, free: [1] },
      violations: [],
    });
  });

  it("tell every violation with its name", () => {
    expect(checkParams(schemas, { day: "tomorrow", count: 0.5, other: 1 }).violations).toEqual([
      "other: there is no such param; there are: day, count, free",
      'day: must match format "date"',
      "count: must be integer",
      "count: must be >= 1",
      "free: is required",
    ]);
  });

  it("say when a schema itself is wrong, and go on", () => {
    expect(checkParams({ a: { type: "nonsense" }, b: {} }, { a: 1, b: 2 }).violations).toEqual([
      expect.stringContaining("a: its schema cannot be used"),
    ]);
  });
});
