import type { Command } from "commander";
import { wholeNumber } from "../io/arguments.ts";
import { newCommand } from "../io/command.ts";
import type { Io } from "../io/io.ts";

export interface StandaloneOptions {
  readonly port?: number;
  readonly host?: string;
  readonly data: string;
  readonly dags?: string;
  readonly quiet?: boolean;
}

export const standalone = (io: Io): Command =>
  newCommand(io, "standalone", {
    about: "Start all of Millrace on this machine: Postgres, scheduler, dag-processor, worker, triggerer and API.",
    examples: ["standalone", "standalone --dags ./dags --port 9090", "standalone --data /var/lib/millrace --quiet"],
  })
    .option("-p, --port <port>", "Port of the API and the web interface; 0 takes a free one.", wholeNumber(0, 65_535))
    .option("-H, --host <address>", "Address to listen on.")
    .option("--data <folder>", "Where data, logs and passwords are kept.", "./.millrace")
    .option(
      "--dags <folder>",
      "The DAG folder. Default: core.dags_folder, else the examples of a checkout, else ./dags.",
    )
    .option("-q, --quiet", "Show no state while it runs.")
    .addHelpText("after", "\nCtrl-C stops it; started again on the same folder it goes on where it was.")
    .action(async (options: StandaloneOptions) => {
      const { runStandalone } = await import("../standalone/run-standalone.ts");
      await runStandalone(io, options);
    });
