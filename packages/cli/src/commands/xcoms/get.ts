import type { Command } from "commander";
import { mapIndex } from "../../io/arguments.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { withMasked } from "../../open-secrets.ts";
import { findRun } from "../find-run.ts";

interface Options {
  readonly mapIndex: number;
  readonly json?: boolean;
}

export const get = (io: Io): Command =>
  newCommand(io, "get", {
    about: "Print the value of an XCom as JSON, wherever it is kept, with secrets masked.",
    examples: ["xcoms get hello greet manual__1", "xcoms get hello greet 2026-01-31 summary --json"],
  })
    .argument("<dag>", "Id of the DAG.")
    .argument("<task>", "Id of the task.")
    .argument("<run>", "Run id, or logical date.")
    .argument("[key]", "Its key.", "return_value")
    .option("--map-index <n>", "Which instance of a mapped task.", mapIndex, -1)
    .option("-j, --json", "Lay the JSON out.")
    .action(async (dagId: string, taskId: string, run: string, key: string, options: Options) => {
      const value = await withMasked(io, async ({ db, config, redactor }) => {
        const [{ getXCom }, { XComs }] = await Promise.all([
          import("@millrace/shared/db"),
          import("@millrace/shared/xcoms"),
        ]);
        const { runId } = await findRun({ db }, dagId, run);
        const xcom = await getXCom(db, { dagId, runId, taskId, mapIndex: options.mapIndex, key });
        return redactor.redactValue(await new XComs(db, config).resolve(xcom.value), key);
      });
      io.out(`${JSON.stringify(value, undefined, options.json === true ? 2 : undefined)}\n`);
    });
