import { expect, test } from "vitest";
import { readArguments, SEEDS, WrongFlagError } from "./arguments.ts";

test("without flags the seeds of CI are played, with a part only that part, and all is all of it", () => {
  expect(readArguments([])).toMatchObject({ seeds: SEEDS, points: false, speed: false, minutes: 1, atOnce: 1 });
  expect(readArguments(["--points"])).toMatchObject({ seeds: [], points: true, speed: false });
  expect(readArguments(["--points", "--seed", "7"])).toMatchObject({ seeds: [7], points: true });
  expect(readArguments(["--seeds", "4,9", "--minutes", "0.5"])).toMatchObject({ seeds: [4, 9], minutes: 0.5 });
  expect(readArguments(["--all", "--at-once", "2"])).toMatchObject({
    seeds: SEEDS,
    points: true,
    speed: true,
    atOnce: 2,
  });
  expect(readArguments(["--help", "--seed", "x"])).toBeUndefined();
});

test.each([
  [["--sed", "7"], /--sed/],
  [["--seed"], /--seed/],
  [["--seed", "1.5"], /--seed takes a whole number/],
  [["--seeds", "1,,2"], /--seeds takes a whole number/],
  [["--seed", "1", "--seeds", "2"], /one of them/],
  [["--minutes", "0"], /--minutes takes a number from 0.1 on, not 0/],
  [["--at-once", "two"], /--at-once/],
  [["7"], /7/],
])("%j is refused with what is wrong with it", (args, message) => {
  const read = () => readArguments(args);
  expect(read).toThrow(WrongFlagError);
  expect(read).toThrow(message);
});
