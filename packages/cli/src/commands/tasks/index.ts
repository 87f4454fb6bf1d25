import type { Command } from "commander";
import { newGroup } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { list } from "./list.ts";
import { logs } from "./logs.ts";
import { state } from "./state.ts";
import { statesForDagRun } from "./states-for-dag-run.ts";

export const tasks = (io: Io): Command =>
  newGroup(
    io,
    "tasks",
    {
      about: "Look at tasks, their states and logs.",
      examples: ["tasks states-for-dag-run hello 2026-01-31", "tasks logs hello manual__1 greet -f"],
    },
    [list, statesForDagRun, state, logs].map((make) => make(io)),
  );
