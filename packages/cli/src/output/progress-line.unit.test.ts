import { expect, test } from "vitest";
import type { Io } from "../io/io.ts";
import { createProgressLine } from "./progress-line.ts";

function terminal(isErrorTty: boolean) {
  let now = 0;
  const written: string[] = [];
  // Only what a line of progress uses.
  const io = { isErrorTty, columns: () => 12, write: (text: string) => void written.push(text) } as unknown as Io;
  const line = createProgressLine(io, () => now);
  return { line, written, at: (ms: number) => (now = ms) };
}

test("a line is drawn over, not too often, cut to the terminal, and gone at the end", () => {
  const { line, written, at } = terminal(true);
  line.show("too early");
  at(400);
  line.show("a long line of progress");
  line.show("too soon after it");
  at(510);
  line.show("more");
  line.end();
  line.end();
  expect(written).toEqual(["\r\x1b[2Ka long line", "\r\x1b[2Kmore", "\r\x1b[2K"]);
});

test("what is quick, or not watched by anybody, writes nothing", () => {
  const quick = terminal(true);
  quick.line.show("at once");
  quick.line.end();
  const piped = terminal(false);
  piped.at(1_000);
  piped.line.show("nobody looks");
  piped.line.end();
  expect([...quick.written, ...piped.written]).toEqual([]);
});
