import type { Command } from "commander";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { addWaitOption, type WaitOption } from "./wait-option.ts";

export const scheduler = (io: Io): Command =>
  addWaitOption(
    newCommand(io, "scheduler", {
      about: "Start a scheduler: it creates due runs and queues tasks. Run as many as you like.",
      examples: ["scheduler", "scheduler --wait 60"],
    }),
  ).action(async (options: WaitOption) => {
    const [{ createScheduler }, { runProcess }] = await Promise.all([
      import("@millrace/scheduler"),
      import("../../process/run-process.ts"),
    ]);
    await runProcess(io, { name: "scheduler", waitSeconds: options.wait, create: createScheduler });
  });
