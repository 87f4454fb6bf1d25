import type { Command } from "commander";
import { newGroup } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { deletePool } from "./delete.ts";
import { get } from "./get.ts";
import { list } from "./list.ts";
import { set } from "./set.ts";

export const pools = (io: Io): Command =>
  newGroup(
    io,
    "pools",
    { about: "List and change pools.", examples: ["pools list", 'pools set gpu 4 "one per card"'] },
    [list, get, set, deletePool].map((make) => make(io)),
  );
