import type { Command } from "commander";
import { newGroup } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { deleteVariable } from "./delete.ts";
import { exportVariables } from "./export.ts";
import { get } from "./get.ts";
import { importVariables } from "./import.ts";
import { list } from "./list.ts";
import { set } from "./set.ts";

export const variables = (io: Io): Command =>
  newGroup(
    io,
    "variables",
    { about: "List and change variables.", examples: ["variables set region eu", "variables get region"] },
    [list, get, set, deleteVariable, importVariables, exportVariables].map((make) => make(io)),
  );
