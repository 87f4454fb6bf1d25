import type { PartitionMapperSpec } from "@millrace/sdk/spec";
import { expect, test } from "vitest";
import { mapKey, runKeyOf } from "./partition-key.ts";

const startOf = (unit: "hour" | "day" | "week" | "month" | "quarter" | "year", more = {}): PartitionMapperSpec => ({
  kind: "startOf",
  unit,
  ...more,
});

test.each([
  [startOf("hour"), "2026-05-17T13:45:59", "2026-05-17T13"],
  [startOf("day"), "2026-05-17T13:45:59", "2026-05-17"],
  [startOf("week"), "2026-05-17T13:45:59", "2026-05-11 (W20)"],
  [startOf("week"), "2027-01-01T00:00:00", "2026-12-28 (W53)"],
  [startOf("month"), "2026-05-17T13:45:59", "2026-05"],
  [startOf("quarter"), "2026-05-17T13:45:59", "2026-Q2"],
  [startOf("year"), "2026-05-17T13:45:59", "2026"],
  [startOf("month", { inputFormat: "%d.%m.%Y", outputFormat: "%m/%Y" }), "17.05.2026", "05/2026"],
  [
    { kind: "product", mappers: [{ kind: "identity" }, startOf("day")], delimiter: "|" },
    "eu|2026-05-17T01:00:00",
    "eu|2026-05-17",
  ],
  [
    { kind: "chain", mappers: [startOf("day"), startOf("year", { inputFormat: "%Y-%m-%d" })] },
    "2026-05-17T01:00:00",
    "2026",
  ],
  [{ kind: "allowed", keys: ["eu", "us"] }, "eu", "eu"],
] satisfies [PartitionMapperSpec, string, string][])("%j makes of %s the key %s", (mapper, key, expected) => {
  expect(mapKey(mapper, key)).toBe(expected);
});

test.each([
  [startOf("day"), "yesterday", /"yesterday" is not of the form/],
  [startOf("day"), "2026-02-30T00:00:00", /is no date/],
  [startOf("day", { inputFormat: "%A" }), "Monday", /%A is not read/],
  [startOf("day", { outputFormat: "%A" }), "2026-05-17T00:00:00", /%A is not written/],
  [{ kind: "allowed", keys: ["eu"] }, "us", /not among the allowed keys/],
  [{ kind: "product", mappers: [{ kind: "identity" }], delimiter: "|" }, "a|b", /has 2 parts, and 1 are mapped/],
] satisfies [PartitionMapperSpec, string, RegExp][])("%j refuses %s", (mapper, key, message) => {
  expect(() => mapKey(mapper, key)).toThrow(message);
});

test("an asset with a mapper of its own has that one", () => {
  const asset = { name: "a", uri: "x-a", aliases: [] };
  const spec = {
    mapper: startOf("day"),
    mappers: [{ use: { ref: { name: "a" } }, mapper: { kind: "identity" } as const }],
  };
  expect(runKeyOf(spec, asset, "k")).toBe("k");
  expect(() => runKeyOf(spec, { ...asset, name: "b" }, "k")).toThrow(/is not of the form/);
});
