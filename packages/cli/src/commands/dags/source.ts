import type { Command } from "commander";
import { withDatabase } from "../../actions.ts";
import { wholeNumber } from "../../io/arguments.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";

interface Options {
  readonly versionNumber?: number;
}

export const source = (io: Io): Command =>
  newCommand(io, "source", {
    about: "Print the file of a DAG as it was read for one of its versions.",
    examples: ["dags source hello", "dags source hello --version-number 3 > then.ts"],
  })
    .argument("<dag>", "Id of the DAG.")
    .option("--version-number <n>", "Number of the version. Default: the newest.", wholeNumber(1))
    .action(async (dagId: string, options: Options) => {
      const found = await withDatabase(io, async ({ db }) => {
        const reads = await import("@millrace/shared/db");
        await reads.getDag(db, dagId);
        return await reads.getSource(db, dagId, options.versionNumber);
      });
      io.out(found.sourceCode);
      io.note(`version ${found.versionNumber} of ${dagId}, ${found.fileloc}`);
    });
