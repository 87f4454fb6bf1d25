import { expect, test } from "vitest";
import { LookSize } from "./look-size.ts";

test("a pass reads fewer runs when those that it read were large, and as many as it may when they were small", () => {
  const size = new LookSize(200);
  expect(size.runs).toBe(200);
  size.note([{ rows: 50 }, { rows: 150 }]);
  expect(size.runs).toBe(20);
  size.note([{ rows: 10_000 }]);
  expect(size.runs).toBe(1);
  size.note([]);
  expect(size.runs).toBe(1);
  size.note([{ rows: 0 }]);
  expect(size.runs).toBe(200);
});
