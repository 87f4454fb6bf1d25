import type { Command } from "commander";
import { withDatabase } from "../../actions.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { userName } from "../../user-name.ts";

const make =
  (name: "pause" | "unpause", about: string) =>
  (io: Io): Command =>
    newCommand(io, name, { about, examples: [`dags ${name} hello`] })
      .argument("<dag...>", "Ids of the DAGs.")
      .action(async (dagIds: readonly string[]) => {
        await withDatabase(io, async ({ db }) => {
          const { setPaused } = await import("@millrace/shared/db");
          for (const dagId of dagIds) {
            await setPaused(db, dagId, name === "pause", `cli ${userName()}`);
            io.out(`${dagId} is ${name === "pause" ? "paused" : "active"}\n`);
          }
        });
      });

export const pause = make("pause", "Start no more runs of DAGs; running ones go on to their end.");
export const unpause = make("unpause", "Let paused DAGs go on.");
