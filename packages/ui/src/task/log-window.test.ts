import { expect, test } from "vitest";
import { addPage, EMPTY_WINDOW, hasMore } from "./log-window.ts";

const page = (start: number, lines: number, token: string | null, size: number) => ({
  content: Array.from({ length: lines }, (_, i) => ({ event: `${start + i}` })),
  continuation_token: token,
  start,
  size,
});

test("a log grows by pages and drops its oldest ones", () => {
  let log = addPage(EMPTY_WINDOW, page(0, 10, "100", 300), 25);
  expect([hasMore(log), log.cutBefore]).toEqual([true, false]);
  log = addPage(log, page(100, 10, "200", 300), 25);
  log = addPage(log, page(200, 10, "300", 300), 25);
  expect(log.blocks.map((block) => block.start)).toEqual([100, 200]);
  expect([hasMore(log), log.cutBefore, log.token]).toEqual([false, true, "300"]);
});

test("a page without lines adds nothing, and the end of a finished try is the end", () => {
  const log = addPage(EMPTY_WINDOW, page(0, 0, null, 0));
  expect(log.blocks).toEqual([]);
  expect(hasMore(log)).toBe(false);
});
