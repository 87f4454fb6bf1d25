import type { Command } from "commander";
import { newGroup } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { getValue } from "./get-value.ts";
import { list } from "./list.ts";

export const config = (io: Io): Command =>
  newGroup(
    io,
    "config",
    { about: "Show the configuration.", examples: ["config list --section scheduler", "config get-value api port"] },
    [list(io), getValue(io)],
  );
