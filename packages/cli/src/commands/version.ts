import type { Command } from "commander";
import { newCommand } from "../io/command.ts";
import type { Io } from "../io/io.ts";
import { ownVersion } from "../own-version.ts";

export const version = (io: Io): Command =>
  newCommand(io, "version", { about: "Show the version.", examples: ["version"] }).action(() =>
    io.out(`${ownVersion()}\n`),
  );
