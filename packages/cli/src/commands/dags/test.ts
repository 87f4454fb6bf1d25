import type { Command } from "commander";
import { instant, jsonObject, wholeNumber } from "../../io/arguments.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";

export interface TestOptions {
  readonly dag?: string;
  readonly logicalDate?: Date;
  readonly conf?: Record<string, unknown>;
  readonly respectRetryDelay?: boolean;
  readonly concurrency: number;
}

export const test = (io: Io): Command =>
  newCommand(io, "test", {
    about: "Run a DAG once in this process: no database, no queue, no worker. Ends with 1 when the run failed.",
    examples: [
      "dags test ./dags/hello.ts",
      "dags test hello -l 2026-01-31",
      `dags test ./dags/report.ts -c '{"region": "eu"}'`,
    ],
  })
    .argument("<file-or-id>", "A DAG file, or the id of a DAG in core.dags_folder.")
    .argument("[logical-date]", "The same as --logical-date.", instant)
    .option("--dag <id>", "Which DAG of a file that has several.")
    .option("-l, --logical-date <date>", "Logical date of the run. Default: now.", instant)
    .option("-c, --conf <json>", "What the run is started with: a JSON object.", jsonObject)
    .option("--respect-retry-delay", "Wait before each retry as a scheduler would.")
    .option("--concurrency <n>", "Tasks at once.", wholeNumber(1, 1_000), 16)
    .addHelpText(
      "after",
      "\nVariables and connections come from MILLRACE_VAR_<KEY>, MILLRACE_CONN_<ID>, the files and the backend of `secrets`, and\nnot from the database; XComs live in memory.",
    )
    .action(async (fileOrId: string, logicalDate: Date | undefined, options: TestOptions) => {
      const { runTestDag } = await import("./run-test-dag.ts");
      await runTestDag(io, fileOrId, { ...options, ...(logicalDate === undefined ? {} : { logicalDate }) });
    });
