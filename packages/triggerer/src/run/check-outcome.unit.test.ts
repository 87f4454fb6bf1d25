import type { TriggerOutcome } from "@millrace/sdk/runtime";
import { expect, test } from "vitest";
import { checkOutcome } from "./check-outcome.ts";

const event = (payload: unknown) => ({ kind: "event", payload }) as TriggerOutcome;

test.each([
  [event(null)],
  [event({ text: "\\u0000 as text, and 😀" })],
  [{ kind: "end", state: "success", value: 1 }],
  [{ kind: "end", state: "skipped" }],
  [{ kind: "failed", error: { name: "TypeError", message: "no" } }],
] as TriggerOutcome[][])("%j stays as it is", (outcome) => {
  expect(checkOutcome("t", outcome as TriggerOutcome, 100)).toBe(outcome);
});

test.each([
  ["is no JSON value", event(undefined)],
  ["cannot be written as JSON", event(1n)],
  ["its event has 102 bytes of JSON, and core.max_xcom_bytes allows 100", event("x".repeat(100))],
  ["the value has 102 bytes", { kind: "end", state: "success", value: "x".repeat(100) }],
  ["which Postgres cannot store", event("a\u0000b")],
  ["which Postgres cannot store", event({ "half\ud800": 1 })],
  ["which is no end", { kind: "end", state: "running" }],
  ["gave neither an event nor an end", { kind: "other" }],
  ["gave neither an event nor an end", undefined],
])("one of which %s fails, and its trigger is named", (why, outcome) => {
  const checked = checkOutcome("watch", outcome as TriggerOutcome, 100);
  expect(checked).toMatchObject({ kind: "failed", error: { message: expect.stringContaining(why) as string } });
  expect(checked).toMatchObject({ error: { message: expect.stringContaining("trigger watch") as string } });
});
