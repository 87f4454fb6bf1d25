import { InvalidArgumentError, type Command } from "commander";
import { instant, jsonObject } from "../../io/arguments.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";

export interface TestTaskOptions {
  readonly dag?: string;
  readonly date?: Date;
  readonly conf?: Record<string, unknown>;
  readonly upstream: Readonly<Record<string, unknown>>;
  readonly input: Readonly<Record<string, unknown>>;
}

function named(given: string, before: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const at = given.indexOf("=");
  if (at <= 0) throw new InvalidArgumentError("Give a name and its value as JSON, as in rows=[1,2].");
  try {
    return { ...before, [given.slice(0, at)]: JSON.parse(given.slice(at + 1)) as unknown };
  } catch (error) {
    throw new InvalidArgumentError(`It is not JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

export const test = (io: Io): Command =>
  newCommand(io, "test", {
    about: "Run one task of a DAG in this process, without what is upstream of it. Ends with 1 when it failed.",
    examples: [
      "tasks test ./dags/report.ts load --upstream 'extract=[1,2,3]'",
      "tasks test report load --date 2026-01-31 --input 'rows=[1,2,3]'",
    ],
  })
    .argument("<file-or-id>", "A DAG file, or the id of a DAG in core.dags_folder.")
    .argument("<task>", "Id of the task.")
    .option("--dag <id>", "Which DAG of a file that has several.")
    .option("-l, --date <date>", "Logical date. Default: now.", instant)
    .option("-c, --conf <json>", "What the run is started with: a JSON object.", jsonObject)
    .option("--upstream <task=json>", "What an upstream task returned; may be given several times.", named, {})
    .option("--input <name=json>", "A named argument of the handler; may be given several times.", named, {})
    .action(async (fileOrId: string, taskId: string, options: TestTaskOptions) => {
      const { runTestTask } = await import("./run-test-task.ts");
      await runTestTask(io, fileOrId, taskId, options);
    });
