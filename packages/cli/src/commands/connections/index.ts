import type { Command } from "commander";
import { newGroup } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { add } from "./add.ts";
import { deleteConnection } from "./delete.ts";
import { exportConnections } from "./export.ts";
import { get } from "./get.ts";
import { importConnections } from "./import.ts";
import { list } from "./list.ts";
import { test } from "./test.ts";

export const connections = (io: Io): Command =>
  newGroup(
    io,
    "connections",
    {
      about: "List and change connections.",
      examples: ["connections add dwh --conn-uri postgres://ada:secret@db.example/sales", "connections list"],
    },
    [list, get, add, deleteConnection, importConnections, exportConnections, test].map((make) => make(io)),
  );
