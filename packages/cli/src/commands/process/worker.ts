import type { Command } from "commander";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { wholeNumber } from "../../io/arguments.ts";
import { addWaitOption, type WaitOption } from "./wait-option.ts";

interface Options extends WaitOption {
  readonly queues?: string;
  readonly concurrency?: number;
}

export const worker = (io: Io): Command =>
  addWaitOption(
    newCommand(io, "worker", {
      about: "Start a worker: it runs tasks of its queues in child processes.",
      examples: ["worker", "worker --queues default,gpu --concurrency 4"],
    })
      .option("-q, --queues <list>", "Queues to take from, separated by commas, instead of workers.queues.")
      .option("-c, --concurrency <n>", "Tasks at once, instead of workers.concurrency.", wholeNumber(1, 10_000)),
  ).action(async (options: Options) => {
    const [{ createWorker }, { runProcess }] = await Promise.all([
      import("@millrace/worker"),
      import("../../process/run-process.ts"),
    ]);
    await runProcess(io, {
      name: "worker",
      overrides: { "workers.queues": options.queues, "workers.concurrency": options.concurrency },
      waitSeconds: options.wait,
      create: createWorker,
    });
  });
