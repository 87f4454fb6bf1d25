import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Json } from "../spec/index.ts";
import { decodeValue, encodeValue, fieldAt } from "./codec.ts";

const through = (value: unknown): unknown => decodeValue(JSON.parse(JSON.stringify(encodeValue(value))) as Json);

describe("a value", () => {
  it.each<[string, unknown, unknown]>([
    ["a date", new Date(5), { $millrace: "date", value: "1970-01-01T00:00:00.005Z" }],
    ["a bigint", -(2n ** 70n), { $millrace: "bigint", value: "-1180591620717411303424" }],
    ["bytes", Buffer.from([0, 255]), { $millrace: "bytes", value: "AP8=" }],
    ["a map", new Map([["a", 1]]), { $millrace: "map", value: [["a", 1]] }],
    ["a set", new Set([1, "1"]), { $millrace: "set", value: [1, "1"] }],
    ["a hole", [undefined, 1], [{ $millrace: "undefined" }, 1]],
    [
      "an object that looks like one",
      { $millrace: "date", a: 1 },
      {
        $millrace: "object",
        value: [
          ["$millrace", "date"],
          ["a", 1],
        ],
      },
    ],
  ])("that is %s is kept as others can read it, and comes back as it was", (_what, value, stored) => {
    expect(encodeValue(value)).toEqual(stored);
    expect(through(value)).toEqual(value);
  });

  it("of JSON is kept as the JSON that it is", () => {
    const value = { a: [1, "x", null, true, { b: {} }], ["__proto__"]: { polluted: 1 } };
    expect(JSON.stringify(encodeValue(value))).toBe(JSON.stringify(value));
    expect(
      Object.getPrototypeOf(through(JSON.parse('{"__proto__": {"at": {"$millrace": "date", "value": "0"}}}'))),
    ).toBe(Object.prototype);
  });

  it("comes back whatever is nested in what", () => {
    const leaf = fc.oneof(
      fc.date({ noInvalidDate: true }),
      fc.bigInt(),
      fc.uint8Array().map((view) => Buffer.from(view)),
      fc.string({ unit: "grapheme" }).filter((text) => !text.includes("\0")),
      fc.integer(),
      fc.constantFrom(null, true),
    );
    const key = fc.constantFrom("a", "$millrace", "value", "__proto__", "b c");
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ depthSize: "small" }, leaf, tie("list"), tie("object"), tie("map"), tie("set")),
      list: fc.array(fc.oneof(tie("value"), fc.constant(undefined)), { maxLength: 4 }),
      object: fc.dictionary(key, tie("value"), { maxKeys: 4, noNullPrototype: true }),
      map: fc.array(fc.tuple(tie("value"), tie("value")), { maxLength: 3 }).map((entries) => new Map(entries)),
      set: fc.array(tie("value"), { maxLength: 3 }).map((members) => new Set(members)),
    }));
    fc.assert(
      fc.property(value, (one) => {
        expect(through(one)).toEqual(one);
      }),
    );
  });

  const cyclic = new Map<string, unknown>();
  cyclic.set("self", [cyclic]);
  it.each<[unknown, string]>([
    [cyclic, '$.get("self")[0] contains itself'],
    [{ at: new Date(Number.NaN) }, "$.at is an invalid Date: use null"],
    [new Map([["a", () => 1]]), "is a function, which cannot be stored"],
    ["\0", "contains the character U+0000"],
    [[Number.NaN], "$[0] is NaN"],
    [Buffer.alloc(1024 * 1024), "and the limit of the whole is 1048576 bytes"],
    [new (class Money {})(), "is an instance of Money"],
  ])("that cannot be kept is refused with its place (%#)", (value, message) => {
    expect(() => encodeValue(value)).toThrow(message);
  });

  it("of a kind that is not known is refused, not taken for data", () => {
    expect(() => decodeValue({ $millrace: "temporal", value: "" })).toThrow('is kept as "temporal"');
  });
});

it("a field of an encoded value is found where it was, and nothing within what has no fields", () => {
  const stored = encodeValue({ at: new Date(0), inner: { $millrace: 1, x: [{ y: 2n }] } });
  expect(fieldAt(stored, ["at"])).toEqual({ $millrace: "date", value: "1970-01-01T00:00:00.000Z" });
  expect(fieldAt(stored, ["at", "value"])).toBeUndefined();
  expect(fieldAt(stored, ["inner", "x", "0", "y"])).toEqual({ $millrace: "bigint", value: "2" });
  expect(fieldAt(stored, ["inner", "none"])).toBeUndefined();
  expect(fieldAt(undefined, ["a"])).toBeUndefined();
});
