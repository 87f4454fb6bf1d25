import { expect, test } from "vitest";
import { Ended } from "../io/report-error.ts";
import { Steps } from "./steps.ts";

function create() {
  const said: string[] = [];
  const done: string[] = [];
  const controller = new AbortController();
  const steps = new Steps((line) => said.push(line.trim().replace(/\s+\d+ ms$/, "")), controller.signal);
  const run = (name: string) =>
    steps.run(
      name,
      () => Promise.resolve(done.push(`start ${name}`)),
      () => Promise.resolve(void done.push(`stop ${name}`)),
    );
  return { steps, run, said, done, controller };
}

test("what was started is stopped in the opposite order", async () => {
  const { steps, run, said, done } = create();
  await run("a");
  await run("b");
  await steps.stop();
  expect(done).toEqual(["start a", "start b", "stop b", "stop a"]);
  expect(said).toEqual(["a", "b", "b stopped", "a stopped"]);
});

test("a part that does not stop is told, and the others stop all the same", async () => {
  const { steps, run, said, done } = create();
  await run("a");
  await steps.run(
    "b",
    () => Promise.resolve(),
    () => Promise.reject(new Error("stuck")),
  );
  await steps.stop();
  expect(done).toContain("stop a");
  expect(said).toContain("b did not stop cleanly: stuck");
});

test("an interrupt ends the start before the next step, and what is there can be stopped", async () => {
  const { steps, run, done, controller } = create();
  await run("a");
  controller.abort();
  await expect(run("b")).rejects.toThrow(Ended);
  await steps.stop();
  expect(done).toEqual(["start a", "stop a"]);
});

test("parts that start together stop in the opposite of their order, those that failed included", async () => {
  const { steps, run, done } = create();
  await run("a");
  const part = (name: string, start: Promise<void>) => ({
    name,
    start: () => start,
    stop: () => Promise.resolve(void done.push(`stop ${name}`)),
  });
  const failing = Promise.reject(new Error("no port"));
  const parts = [part("b", Promise.resolve()), part("c", failing), part("d", Promise.resolve())];
  await expect(steps.together(parts)).rejects.toThrow("no port");
  await steps.stop();
  expect(done).toEqual(["start a", "stop d", "stop c", "stop b", "stop a"]);
});
