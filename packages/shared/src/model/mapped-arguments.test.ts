import type { Json, MapSource } from "@millrace/sdk/spec";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { argumentsAt, listIn, NoElement, type OpenList } from "./mapped-arguments.ts";

const literal = (...values: Json[]): MapSource => ({ kind: "literal", values });
const nothing: OpenList = () => Promise.resolve(listIn([]));
const over = (...sources: MapSource[]) =>
  ({ kind: "expand", lists: sources.map((source, i) => ({ name: `l${i}`, source })) }) as const;

describe("the arguments of an index", () => {
  test("are each combination once, the last list varying fastest, and none beyond", async () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(lengths, async (each) => {
        const mapping = over(...each.map((length) => literal(...Array.from({ length }, (_, n) => n))));
        const product = each.reduce((all, length) => all * length, 1);
        const seen: number[][] = [];
        for (let index = 0; index < product; index++) {
          seen.push(Object.values(await argumentsAt(mapping, index, nothing)) as number[]);
        }
        const inOrder = each.reduce<number[][]>(
          (rows, length) => rows.flatMap((row) => Array.from({ length }, (_, n) => [...row, n])),
          [[]],
        );
        expect(seen).toEqual(inOrder);
        await expect(argumentsAt(mapping, product, nothing)).rejects.toThrow(NoElement);
      }),
      { numRuns: 50 },
    );
  });

  test.each<[string, MapSource, number]>([
    ["a list of nothing", literal(), 0],
    ["a list that has become shorter", literal(1, 2), 2],
    ["lists together, of which the shorter ends", { kind: "zip", sources: [literal(1, 2), literal(1)] }, 1],
    ["lists one after the other", { kind: "concat", sources: [literal(1), literal(2)] }, 2],
    ["what is not there", { kind: "xcom", taskId: "t", path: [] }, 0],
  ])("are missing beyond %s, alone and beside another list", async (_what, source, index) => {
    await expect(argumentsAt(over(source), index, nothing)).rejects.toThrow(NoElement);
    const { kind } = source;
    if (kind === "xcom") await expect(argumentsAt(over(literal(1), source), 0, nothing)).rejects.toThrow(NoElement);
    await expect(argumentsAt({ kind: "expandKwargs", source, strict: true }, index, nothing)).rejects.toThrow(
      /there is no element \d of the list, which has \d/,
    );
  });

  test.each<Json>([null, 3, "x", [1], { $millrace: "date", value: "2026-01-01T00:00:00.000Z" }])(
    "are an object where a list of them is given, and not %j",
    async (element) => {
      const mapping = { kind: "expandKwargs", source: literal({ a: 1 }, element), strict: true } as const;
      expect(await argumentsAt(mapping, 0, nothing)).toEqual({ a: 1 });
      await expect(argumentsAt(mapping, 1, nothing)).rejects.toThrow("element 1 of the list is no object of arguments");
    },
  );
});
