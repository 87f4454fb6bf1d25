import { expect, test } from "vitest";
import { waitUntil } from "./wait-until.ts";

test("the first truthy answer is given back", async () => {
  let asked = 0;
  const probe = (): string | undefined => (++asked < 3 ? undefined : "row");
  expect(await waitUntil(probe, { what: "the row is there", intervalMs: 1 })).toBe("row");
});

test("the failure names the condition and what was seen last", async () => {
  const probe = (): null => null;
  await expect(waitUntil(probe, { what: "b is queued", timeoutMs: 10, intervalMs: 1 })).rejects.toThrow(
    "Waited 10 ms until b is queued; last seen: null",
  );
});

test("a probe that throws is asked again, and its error is told at the end", async () => {
  const probe = (): never => {
    throw new Error("no such table");
  };
  await expect(waitUntil(probe, { what: "it is migrated", timeoutMs: 5, intervalMs: 1 })).rejects.toThrow(
    /no such table/,
  );
});
