import type { Command } from "commander";
import { withDatabase } from "../../actions.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { findRun } from "../find-run.ts";

export const state = (io: Io): Command =>
  newCommand(io, "state", {
    about: "Print the state of a run.",
    examples: ["dags state hello manual__2026-01-31T08:00:00Z", "dags state hello 2026-01-31"],
  })
    .argument("<dag>", "Id of the DAG.")
    .argument("<run>", "Run id, or logical date.")
    .action(async (dagId: string, run: string) => {
      const found = await withDatabase(io, async ({ db }) => await findRun({ db }, dagId, run));
      io.out(`${found.state}\n`);
    });
