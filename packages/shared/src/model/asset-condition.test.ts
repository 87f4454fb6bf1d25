import type { AssetConditionSpec, AssetUseSpec } from "@millrace/sdk/spec";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isConditionMet, isMeant, usesIn, type PresentAsset } from "./asset-condition.ts";

const NAMES = ["a", "b", "c", "d"];
const name = fc.constantFrom(...NAMES);
const use: fc.Arbitrary<AssetUseSpec> = fc.oneof(
  name.map((it) => ({ asset: { name: it, uri: `x://${it}` } })),
  name.map((it) => ({ ref: { name: it } })),
  name.map((it) => ({ ref: { uri: `x://${it}` } })),
  name.map((it) => ({ alias: { name: `${it}s`, group: "asset" } })),
);
const { condition } = fc.letrec<{ condition: AssetConditionSpec }>((tie) => ({
  condition: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    use,
    fc.array(tie("condition"), { minLength: 1, maxLength: 3 }).map((all) => ({ all })),
    fc.array(tie("condition"), { minLength: 1, maxLength: 3 }).map((any) => ({ any })),
  ),
}));
const asset = fc.record({ it: name, isAliased: fc.boolean() });
const present: fc.Arbitrary<readonly PresentAsset[]> = fc
  .uniqueArray(asset, { selector: ({ it }) => it })
  .map((all) => all.map(({ it, isAliased }) => ({ name: it, uri: `x://${it}`, aliases: isAliased ? [`${it}s`] : [] })));

/** The condition as one formula over its leaves, which JavaScript evaluates. */
const formula = (spec: AssetConditionSpec, seen: readonly PresentAsset[]): string =>
  "all" in spec
    ? `(${spec.all.map((part) => formula(part, seen)).join("&&")})`
    : "any" in spec
      ? `(${spec.any.map((part) => formula(part, seen)).join("||")})`
      : String(seen.some((it) => isMeant(spec, it)));

test("a condition is the formula of what has come", () => {
  fc.assert(
    fc.property(condition, present, (spec, seen) => {
      // oxlint-disable-next-line no-implied-eval -- an independent reading of the same words
      const expected: unknown = new Function(`return ${formula(spec, seen)}`)();
      expect(isConditionMet(spec, seen)).toBe(expected);
    }),
  );
});

test("more events never unmake a condition", () => {
  fc.assert(
    fc.property(condition, present, present, (spec, seen, more) => {
      if (isConditionMet(spec, seen)) expect(isConditionMet(spec, [...seen, ...more])).toBe(true);
    }),
  );
});

test("nothing is met by nothing, and everything by all of its assets", () => {
  fc.assert(
    fc.property(condition, (spec) => {
      expect(isConditionMet(spec, [])).toBe(false);
      const all = NAMES.map((it) => ({ name: it, uri: `x://${it}`, aliases: [`${it}s`] }));
      expect(isConditionMet(spec, all)).toBe(true);
      expect(usesIn(spec).length).toBeGreaterThan(0);
    }),
  );
});

test("a condition without parts is never met", () => {
  expect(isConditionMet({ all: [] }, [])).toBe(false);
  expect(isConditionMet({ any: [] }, [])).toBe(false);
});
