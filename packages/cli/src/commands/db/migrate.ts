import type { Command } from "commander";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";

export const migrateCommand = (io: Io): Command =>
  newCommand(io, "migrate", {
    about: "Create or upgrade the schema. Safe to run again, and from several machines at once.",
    examples: ["db migrate"],
  }).action(async () => {
    const [{ configOf }, { openCheckedDatabase }, { migrate }, { withoutPassword }] = await Promise.all([
      import("../../process/config-of.ts"),
      import("../../process/open-database.ts"),
      import("@millrace/shared/db"),
      import("@millrace/shared/observability"),
    ]);
    const config = configOf(io, {}, ["database.url"]);
    // First alone: this one says in one line what is wrong.
    await (await openCheckedDatabase(config, "cli")).close();
    io.note(`migrating ${withoutPassword(config.database.url)}`);
    const { applied } = await migrate(config.database.url, {
      defaultPoolSlots: config.core.default_pool_task_slot_count,
    });
    for (const name of applied) io.out(`applied ${name}\n`);
    if (applied.length === 0) io.out("the schema is up to date\n");
  });
