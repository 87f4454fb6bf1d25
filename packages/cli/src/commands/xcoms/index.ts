import type { Command } from "commander";
import { newGroup } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { get } from "./get.ts";
import { list } from "./list.ts";

export const xcoms = (io: Io): Command =>
  newGroup(
    io,
    "xcoms",
    {
      about: "See what tasks handed on.",
      examples: ["xcoms list hello manual__1", "xcoms get hello greet manual__1"],
    },
    [list, get].map((make) => make(io)),
  );
