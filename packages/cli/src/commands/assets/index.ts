import type { Command } from "commander";
import { newGroup } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { details } from "./details.ts";
import { events } from "./events.ts";
import { list } from "./list.ts";
import { materialize } from "./materialize.ts";

export const assets = (io: Io): Command =>
  newGroup(
    io,
    "assets",
    {
      about: "See assets, who updates them and who waits for them, and their events; run what updates one.",
      examples: ["assets list", "assets details orders", "assets events orders --limit 5"],
    },
    [list, details, events, materialize].map((make) => make(io)),
  );
