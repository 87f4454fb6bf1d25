import type { Command } from "commander";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";

export const checkCommand = (io: Io): Command =>
  newCommand(io, "check", {
    about: "See whether the database can be reached and has this program's schema.",
    examples: ["db check"],
  }).action(async () => {
    const [{ configOf }, { openCheckedDatabase }, { requireSchema }, { withoutPassword }] = await Promise.all([
      import("../../process/config-of.ts"),
      import("../../process/open-database.ts"),
      import("@millrace/shared/db"),
      import("@millrace/shared/observability"),
    ]);
    const config = configOf(io, {}, ["database.url"]);
    // First alone: this one says in one line what is wrong.
    await (await openCheckedDatabase(config, "cli")).close();
    await requireSchema(config.database.url);
    io.out(`${withoutPassword(config.database.url)} is reachable and up to date\n`);
  });
