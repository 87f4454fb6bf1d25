import type { Command } from "commander";
import { newGroup } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { checkCommand } from "./check.ts";
import { migrateCommand } from "./migrate.ts";

export const db = (io: Io): Command =>
  newGroup(io, "db", { about: "Migrate and check the database.", examples: ["db migrate", "db check"] }, [
    migrateCommand(io),
    checkCommand(io),
  ]);
