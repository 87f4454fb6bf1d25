import { describe, expect, it } from "vitest";
import { checkDefaults, checkParams, checkRunParams } from "./check-params.ts";

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

  it("tell what would have been right, and what is one too many", () => {
    const properties = { a: { type: "integer" } };
    const named = {
      region: { enum: ["eu", "us", 3] },
      mode: { const: { full: true } },
      options: { type: "object", properties, required: ["a"], additionalProperties: false },
      long: { enum: Array.from({ length: 500 }, (_, n) => n) },
      days: { type: "array", items: { type: "string", format: "date", pattern: String.raw`^\d{4}-\d\d-\d\d$` } },
      code: { type: "string", pattern: "^[a-z]+$" },
    };
    const given = { region: "xx", mode: "fast", options: { b: 1, "c d": 2 }, long: -1, days: ["tomorrow"], code: "?" };
    const { violations } = checkParams(named, given);
    expect(violations).toEqual([
      'region: must be one of "eu", "us", 3',
      'mode: must be {"full":true}',
      `options: must have required property 'a'`,
      'options: must not have the property "b"',
      'options: must not have the property "c d"',
      expect.stringMatching(/^long: must be one of 0, 1, 2, .{100,200}…$/),
      'days/0: must match format "date"',
      'code: must match pattern "^[a-z]+$"',
    ]);
  });

  it("say when a schema itself is wrong, and go on", () => {
    expect(checkParams({ a: { type: "nonsense" }, b: {} }, { a: 1, b: 2 }).violations).toEqual([
      expect.stringContaining("a: its schema cannot be used"),
    ]);
  });
});

describe("the params of a run", () => {
  const paramSpecs = {
    day: { schema: { type: "string", format: "date" }, required: true },
    count: { schema: { type: "integer", minimum: 1 } },
  } as const;

  it("have the defaults of what conf does not give, and conf may hold more", () => {
    expect(checkRunParams({ params: { count: 3 }, paramSpecs }, { day: "2026-01-31", more: [] })).toEqual({
      values: { count: 3, day: "2026-01-31", more: [] },
      violations: [],
    });
    expect(checkRunParams({ params: { a: 1 } }, {})).toEqual({ values: { a: 1 }, violations: [] });
  });

  it("tell every violation, and what is missing", () => {
    expect(checkRunParams({ params: { count: 3 }, paramSpecs }, { count: 0.5 }).violations).toEqual([
      "day: is required",
      "count: must be integer",
      "count: must be >= 1",
    ]);
  });

  it("are checked for defaults that do not fit, and schemas that are none, when they are read", () => {
    const wrong = { ...paramSpecs, day: { schema: { type: "nonsense" } } };
    expect(checkDefaults({ params: { count: 0 }, paramSpecs: wrong })).toEqual([
      expect.stringContaining("day: its schema cannot be used"),
      "count: must be >= 1",
    ]);
    expect(checkDefaults({ params: { count: 1 }, paramSpecs })).toEqual([]);
  });
});
