import type { Command } from "commander";
import { mapIndex, wholeNumber } from "../../io/arguments.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { withMasked } from "../../open-secrets.ts";
import { findRun } from "../find-run.ts";

interface Options {
  readonly try?: number;
  readonly mapIndex: number;
  readonly follow?: boolean;
  readonly json?: boolean;
}

export const logs = (io: Io): Command =>
  newCommand(io, "logs", {
    about: "Print the log of one try of a task, from logging.base_log_folder.",
    examples: [
      "tasks logs hello greet manual__1",
      "tasks logs hello greet 2026-01-31 --try 1",
      "tasks logs hello greet manual__1 -f",
    ],
  })
    .argument("<dag>", "Id of the DAG.")
    .argument("<task>", "Id of the task.")
    .argument("<run>", "Run id, or logical date.")
    .option("--try <n>", "Which try. Default: the last one.", wholeNumber(1))
    .option("--map-index <n>", "Which instance of a mapped task.", mapIndex, -1)
    .option("-f, --follow", "Go on until the try has ended.")
    .option("--json", "The lines as they are stored.")
    .action(async (dagId: string, taskId: string, run: string, options: Options) => {
      await withMasked(io, async ({ db, config, io: masked }) => {
        const { printLog } = await import("../print-log.ts");
        const { runId } = await findRun({ db }, dagId, run);
        const key = { dagId, taskId, runId, mapIndex: options.mapIndex };
        await printLog(masked, { db, base: config.logging.base_log_folder, key, ...options });
      });
    });
