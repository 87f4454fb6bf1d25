import { describe, expect, it } from "vitest";
import fc from "fast-check";
import { encodeJson, ValueNotStorable } from "./encode-json.ts";

class Money {
  amount = 1;
}

function problem(value: unknown): string {
  try {
    return `stored as ${JSON.stringify(encodeJson(value))}`;
  } catch (error) {
    if (!(error instanceof ValueNotStorable)) throw error;
    return error.message;
  }
}

describe("encoding a value", () => {
  it("returns every JSON value as it is", () => {
    const string = fc.string({ unit: "grapheme" }).filter((text) => !text.includes("\u0000"));
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "grapheme" }), string, (value, text) => {
        const whole = JSON.parse(JSON.stringify({ value, text })) as unknown;
        fc.pre(!JSON.stringify(whole).includes("\\u0000"));
        expect(encodeJson(whole)).toEqual(whole);
      }),
    );
  });

  it("drops undefined properties, as JSON does, and changes nothing else", () => {
    expect(encodeJson({ a: undefined, b: null, ["__proto__"]: 1 })).toEqual(JSON.parse('{"b":null,"__proto__":1}'));
    expect(encodeJson(Object.assign(Object.create(null) as object, { a: 1 }))).toEqual({ a: 1 });
    const shared = { a: 1 };
    expect(encodeJson([shared, shared])).toEqual([shared, shared]);
  });

  const cyclic: { list: unknown[] } = { list: [] };
  cyclic.list.push(cyclic);
  let deep: unknown = 1;
  for (let level = 0; level < 100_000; level++) deep = [deep];

  it.each([
    [
      { rows: [{}, { amount: 1n }] },
      "$.rows[1].amount is a BigInt, which JSON does not have: use String(value), or Number(value) if it is small enough",
    ],
    [{ at: new Date(0) }, "$.at is a Date, which would come back as a string: use value.toISOString()"],
    [Number.NaN, "$ is NaN, which JSON does not have: use null, or a string"],
    [[-Infinity], "$[0] is -Infinity, which JSON does not have: use null, or a string"],
    [{ "a b": () => 1 }, '$["a b"] is a function, which cannot be stored: return the data that it would compute'],
    [Symbol("s"), "$ is a symbol, which cannot be stored: use a string"],
    [{ [Symbol("s")]: 1 }, "$ has a symbol as a key, which JSON would drop: use a string"],
    [new Map(), "$ is a Map, which would come back empty: use Object.fromEntries(value)"],
    [{ s: new Set() }, "$.s is a Set, which would come back empty: use [...value]"],
    [new Money(), "$ is an instance of Money, which would come back as a plain object: use { ...value }"],
    [new Error("x"), "$ is an Error, which would come back empty: use value.message, or throw it"],
    [Buffer.from("x"), '$ is binary data: use Buffer.from(value).toString("base64")'],
    [{ p: Promise.resolve() }, "$.p is a Promise: await it"],
    [{ p: Object.assign(Promise.resolve(), { [Symbol("async id")]: 1 }) }, "$.p is a Promise: await it"],
    [[1, undefined], "$[1] is undefined in an array, where JSON has no place for it: use null"],
    // oxlint-disable-next-line no-sparse-arrays
    [[, 1], "$[0] is undefined in an array, where JSON has no place for it: use null"],
    ["a\u0000b", "$ contains the character U+0000, which Postgres cannot store: remove it, or encode it as base64"],
    [
      { "\u0000": 1 },
      '$["\\u0000"] has a key that contains the character U+0000, which Postgres cannot store: remove it, or encode it as base64',
    ],
    [
      { s: "\uD83D" },
      "$.s contains half a surrogate pair, which is not valid Unicode: use value.toWellFormed() or base64",
    ],
    [cyclic, "$.list[0] contains itself: break the cycle, or return an id instead"],
    [deep, /^.{150,250} is nested more than 500 levels deep: flatten it$/],
  ])("names the place and the way out (%#)", (value, message) => {
    expect(problem(value)).toMatch(typeof message === "string" ? new RegExp(`^${escaped(message)}$`) : message);
  });

  it("counts the bytes of the JSON in UTF-8 against the limit", () => {
    expect(encodeJson("ü".repeat(4), 10)).toBe("üüüü");
    expect(() => encodeJson("x".repeat(9), 10)).toThrow("$ is 11 bytes of JSON, and the limit is 10");
    expect(() => encodeJson("ü".repeat(5), 10)).toThrow("$ is 12 bytes of JSON, and the limit is 10");
    expect(() => encodeJson("x".repeat(1024 * 1024))).toThrow("is 1048578 bytes of JSON, and the limit is 1048576");
  });
});

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
