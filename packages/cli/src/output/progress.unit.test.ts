import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { captureIo } from "../fixtures/capture-io.ts";
import { createProgress } from "./progress.ts";

function start(isTty: boolean, maxLines?: number) {
  const written: string[] = [];
  const { io } = captureIo();
  const options = { write: (text: string) => void written.push(text), isTty };
  return { progress: createProgress(io, maxLines === undefined ? options : { ...options, maxLines }), written };
}

test("without a terminal each change is a line, and what has not begun is none", () => {
  const { progress, written } = start(false);
  progress.show([
    { label: "a", state: "running" },
    { label: "b", state: "none" },
  ]);
  progress.show([
    { label: "a", state: "success", note: "12 ms" },
    { label: "b", state: "none" },
  ]);
  progress.show([{ label: "a", state: "success", note: "13 ms" }]);
  expect(written).toEqual(["  a  running\n", "  a  success  12 ms\n"]);
});

test("on a terminal the block is drawn over, and a line is put above it", () => {
  const { progress, written } = start(true);
  progress.show([{ label: "a", state: "running" }]);
  progress.print("hello");
  progress.show([{ label: "a", state: "success" }]);
  expect(written).toEqual(["  a  running\n", "\x1b[1A\x1b[0Jhello\n  a  running\n", "\x1b[1A\x1b[0J  a  success\n"]);
});

test("nothing is drawn when nothing changed", () => {
  const { progress, written } = start(true);
  progress.show([{ label: "a", state: "running" }]);
  progress.show([{ label: "a", state: "running" }]);
  expect(written).toHaveLength(1);
});

test("a run of many tasks shows those that are busy and counts the rest", () => {
  const { progress, written } = start(true, 3);
  const tasks = Array.from({ length: 50 }, (_, i) => ({ label: `t${i}`, state: i < 40 ? "success" : "none" }));
  progress.show([...tasks, { label: "busy", state: "running" }]);
  expect(stripVTControlCharacters(written.join(""))).toBe(
    "  busy  running\n51 tasks: 40 success, 10 none, 1 running\n",
  );
});
