import { expect, test } from "vitest";
import { shapeOf } from "./shape.ts";

test("lists are their lengths, objects their fields, and all else the name of its type", () => {
  expect(shapeOf([1, [2]])).toBe(2);
  expect(shapeOf("text")).toBe("string");
  expect(shapeOf(null)).toBe("null");
  const value = { rows: [{ id: 1 }, {}], deep: { list: [], flag: true, none: null, n: 1.5 }, empty: {} };
  expect(JSON.parse(JSON.stringify(shapeOf(value)))).toEqual({
    rows: 2,
    deep: { list: 0, flag: "boolean", none: "null", n: "number" },
    empty: {},
  });
});

test("a field named __proto__ is one", () => {
  expect(JSON.stringify(shapeOf(JSON.parse('{"__proto__": [1]}') as never))).toBe('{"__proto__":1}');
});

test("it stays small, and what is nearest to the root comes first", () => {
  const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`field_${i}`, i]));
  const shape = shapeOf({ wide, list: [1, 2, 3] });
  expect(JSON.stringify(shape).length).toBeLessThan(40_000);
  expect(shape).toMatchObject({ list: 3 });
});
