import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { captureIo } from "../fixtures/capture-io.ts";
import { createProgressBar, sayRate, saySpan, type Advance } from "./progress-bar.ts";

const HALF: Advance = {
  label: "backfill 7",
  total: 10,
  done: 4,
  failed: 1,
  running: 2,
  left: 5,
  rate: 0.5,
  secondsLeft: 10,
};

function start(isErrorTty: boolean, columns = 100) {
  const written: string[] = [];
  let now = 0;
  const io = {
    ...captureIo().io,
    isErrorTty,
    columns: () => columns,
    write: (text: string) => void written.push(text),
  };
  return { bar: createProgressBar(io, () => now), written, pass: (ms: number) => (now += ms) };
}

test("on a terminal one line is drawn over, and fits it", () => {
  const { bar, written } = start(true);
  bar.show(HALF);
  bar.show(HALF);
  bar.show({ ...HALF, left: 0, done: 9, running: 0 });
  bar.end();
  expect(written.map(stripVTControlCharacters)).toEqual([
    "\r█████████████░░░░░░░░░░░░░  backfill 7  50 %  4 done, 1 failed, 2 running, 5 left  30/min  ETA 10 s",
    `\r${"█".repeat(40)}  backfill 7  100 %  9 done, 1 failed, 0 running, 0 left`,
    "\n",
  ]);
  const narrow = start(true, 30);
  narrow.bar.show(HALF);
  expect(stripVTControlCharacters(narrow.written.join("")).length).toBeLessThanOrEqual(30);
});

test("without a terminal a line is written when something ended, not more often than every few seconds", () => {
  const { bar, written, pass } = start(false);
  bar.show(HALF);
  bar.show({ ...HALF, done: 5, left: 4 });
  pass(5_000);
  bar.show({ ...HALF, done: 6, left: 3, note: "paused" });
  bar.show({ ...HALF, done: 9, left: 0, running: 0 });
  bar.end();
  expect(written.map(stripVTControlCharacters)).toEqual([
    "backfill 7  50 %  4 done, 1 failed, 2 running, 5 left  30/min  ETA 10 s\n",
    "backfill 7  70 %  6 done, 1 failed, 2 running, 3 left  paused\n",
    "backfill 7  100 %  9 done, 1 failed, 0 running, 0 left\n",
  ]);
});

test("spans and rates are said in the unit that fits", () => {
  expect([5, 59.6, 200, 3_900, 187_200].map(saySpan)).toEqual([
    "5 s",
    "1 min 00 s",
    "3 min 20 s",
    "1 h 05 min",
    "2 d 4 h",
  ]);
  expect([25, 1.25, 0.5, 0.001].map(sayRate)).toEqual(["25/s", "1.3/s", "30/min", "3.6/h"]);
});
