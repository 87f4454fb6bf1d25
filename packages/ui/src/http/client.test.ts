import { expect, test } from "vitest";
import { sentenceOf } from "./client.ts";

test("what the server says is shown as a sentence", () => {
  expect(sentenceOf({ detail: "No." })).toBe("No.");
  expect(sentenceOf({ detail: [{ loc: ["body", "conf"], msg: "must be object" }] })).toBe("conf must be object");
  expect(sentenceOf("<html>")).toBeUndefined();
  expect(sentenceOf(undefined)).toBeUndefined();
});
