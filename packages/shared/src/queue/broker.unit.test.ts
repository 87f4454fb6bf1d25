import { expect, test } from "vitest";
import { jobIdOf, readMessage, readSignal, readWakes } from "./broker.ts";

const ID = "01900000-0000-7000-8000-000000000001";

test.each([
  null,
  "text",
  [],
  {},
  { id: ID },
  { id: "../etc", epoch: 1 },
  { id: ID, epoch: -1 },
  { id: ID, epoch: 1.5 },
  { id: ID, epoch: "1" },
  // Beyond what the column holds: the claim of every message beside it would fail, for ever.
  { id: ID, epoch: 2 ** 31 },
])("a message that names no attempt is none: %j", (data) => {
  expect(readMessage(data)).toBeUndefined();
});

test("a message carries nothing but its attempt and its epoch", () => {
  expect(readMessage({ id: ID, epoch: 3, state: "success" })).toEqual({ id: ID, epoch: 3 });
});

test.each(["", "no json", "5", "null", '{"dagRunId":1}', '[null,5,"x"]', '[{"dagRunId":"1; drop"},{"dagRunId":1.5}]'])(
  "what is no wake is left out: %s",
  (payload) => {
    expect(readWakes(payload)).toEqual([]);
  },
);

test("a wake that names tasks badly is for the whole run", () => {
  const payload = JSON.stringify([
    { dagRunId: 1, taskIds: ["a"] },
    { dagRunId: 2, taskIds: [1] },
    { dagRunId: 3, taskIds: "a" },
    { dagRunId: null, taskIds: ["a"] },
    { dagRunId: 4, taskIds: ["a\0b"] },
  ]);
  expect(readWakes(payload)).toEqual([
    { dagRunId: 1, taskIds: ["a"] },
    { dagRunId: 2, taskIds: null },
    { dagRunId: 3, taskIds: null },
    { dagRunId: null, taskIds: null },
    { dagRunId: 4, taskIds: null },
  ]);
});

test("a signal names attempts and nothing else", () => {
  expect(readSignal(JSON.stringify([ID, 5, null]))).toEqual([ID]);
  expect(readSignal("no json")).toEqual([]);
});

test("a message that is sent again and again has a few ids only", () => {
  const ids = new Set(Array.from({ length: 500 }, () => jobIdOf({ id: ID, epoch: 3 }, true)));
  expect(ids.size).toBeLessThanOrEqual(4);
  expect([...ids]).not.toContain(jobIdOf({ id: ID, epoch: 3 }));
});
