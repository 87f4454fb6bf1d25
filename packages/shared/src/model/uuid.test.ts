import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { uuidv7 } from "./uuid.ts";

test("an id is a UUID of version 7 and variant 2 that says its millisecond", () => {
  fc.assert(
    fc.property(fc.nat({ max: 2 ** 31 }), fc.uint8Array({ minLength: 16, maxLength: 16 }), (seconds, random) => {
      const millis = seconds * 1_000 + 7;
      const id = uuidv7(millis, random);
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(Number.parseInt(id.replace("-", "").slice(0, 12), 16)).toBe(millis);
    }),
  );
});

test("ids of later milliseconds sort later as text, whatever their random part", () => {
  const [low, high] = [new Uint8Array(16), new Uint8Array(16).fill(255)];
  const start = Date.UTC(2026, 0, 1);
  const ids = [0, 1, 2, 255, 256, 65_536, 2 ** 32].map((ms, i) => uuidv7(start + ms, i % 2 === 0 ? high : low));
  expect(ids.toSorted()).toEqual(ids);
});

test("ids of one millisecond differ, and what was random stays as it was", () => {
  const random = randomBytes(16);
  const before = Buffer.from(random);
  const ids = new Set(Array.from({ length: 1_000 }, () => uuidv7(1, randomBytes(16))));
  uuidv7(1, random);
  expect(ids.size).toBe(1_000);
  expect(random.equals(before)).toBe(true);
});
