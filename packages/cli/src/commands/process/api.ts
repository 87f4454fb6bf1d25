import type { Command } from "commander";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { wholeNumber } from "../../io/arguments.ts";
import { addWaitOption, type WaitOption } from "./wait-option.ts";

interface Options extends WaitOption {
  readonly host?: string;
  readonly port?: number;
}

export const api = (io: Io): Command =>
  addWaitOption(
    newCommand(io, "api", {
      about: "Start the API and the web interface.",
      examples: ["api", "api --host 0.0.0.0 --port 8080"],
    })
      .option("-H, --host <address>", "Address to listen on, instead of api.host.")
      .option(
        "-p, --port <port>",
        "Port to listen on, instead of api.port; 0 takes a free one.",
        wholeNumber(0, 65_535),
      ),
  ).action(async (options: Options) => {
    const [{ createApi }, { runProcess }] = await Promise.all([
      import("@millrace/api"),
      import("../../process/run-process.ts"),
    ]);
    await runProcess(io, {
      name: "api",
      overrides: { "api.host": options.host, "api.port": options.port },
      waitSeconds: options.wait,
      create: createApi,
      readyAt: (service) => `at ${service.url}`,
    });
  });
