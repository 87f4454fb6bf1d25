import type { Command } from "commander";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { addWaitOption, type WaitOption } from "./wait-option.ts";

interface Options extends WaitOption {
  readonly dags?: string;
}

export const dagProcessor = (io: Io): Command =>
  addWaitOption(
    newCommand(io, "dag-processor", {
      about: "Start a dag-processor: it watches the DAG folder and stores each version it finds.",
      examples: ["dag-processor", "dag-processor --dags ./dags"],
    }).option("--dags <folder>", "The folder, instead of core.dags_folder."),
  ).action(async (options: Options) => {
    const [{ DagProcessor }, { runProcess }] = await Promise.all([
      import("@millrace/scheduler/dag-processor"),
      import("../../process/run-process.ts"),
    ]);
    await runProcess(io, {
      name: "dag-processor",
      overrides: options.dags === undefined ? {} : { "core.dags_folder": options.dags, "dags_git.url": "" },
      waitSeconds: options.wait,
      create: (doors) => new DagProcessor(doors),
    });
  });
