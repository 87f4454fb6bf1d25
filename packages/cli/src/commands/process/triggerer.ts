import type { Command } from "commander";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { addWaitOption, type WaitOption } from "./wait-option.ts";

export const triggerer = (io: Io): Command =>
  addWaitOption(
    newCommand(io, "triggerer", {
      about: "Start a triggerer: it waits for what deferred tasks wait for.",
      examples: ["triggerer", "triggerer --wait 60"],
    }),
  ).action(async (options: WaitOption) => {
    const [{ createTriggerer }, { runProcess }] = await Promise.all([
      import("@millrace/triggerer"),
      import("../../process/run-process.ts"),
    ]);
    await runProcess(io, { name: "triggerer", waitSeconds: options.wait, create: createTriggerer });
  });
