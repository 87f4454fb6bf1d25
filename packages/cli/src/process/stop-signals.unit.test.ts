import { fakeClock } from "@millrace/testkit";
import { expect, onTestFinished, test } from "vitest";
import { listenForStop } from "./stop-signals.ts";

function listen() {
  const exits: number[] = [];
  const clock = fakeClock();
  const stop = listenForStop({ exit: (code) => exits.push(code), clock });
  onTestFinished(() => stop.dispose());
  return { stop, clock, exits };
}

test("the first signal asks to stop", async () => {
  const { stop, exits } = listen();
  process.emit("SIGTERM", "SIGTERM");
  expect(await stop.received).toBe("SIGTERM");
  expect(stop.signal.aborted).toBe(true);
  expect(exits).toEqual([]);
});

test("the second one ends the process with 130", async () => {
  const { clock, exits } = listen();
  process.emit("SIGINT", "SIGINT");
  await clock.advance(1_000);
  process.emit("SIGINT", "SIGINT");
  expect(exits).toEqual([130]);
});

test("the same Ctrl-C that comes twice, from the terminal and from npm, is one", async () => {
  const { clock, exits } = listen();
  process.emit("SIGINT", "SIGINT");
  await clock.advance(50);
  process.emit("SIGINT", "SIGINT");
  expect(exits).toEqual([]);
});
