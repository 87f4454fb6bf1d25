import type { Command } from "commander";
import { newGroup } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { clear } from "./clear.ts";
import { list } from "./list.ts";
import { logs } from "./logs.ts";
import { setState } from "./set-state.ts";
import { state } from "./state.ts";
import { statesForDagRun } from "./states-for-dag-run.ts";
import { render } from "./render.ts";
import { restart, stop } from "./stop.ts";
import { test } from "./test.ts";

export const tasks = (io: Io): Command =>
  newGroup(
    io,
    "tasks",
    {
      about: "Look at tasks, their states and logs; clear, mark and stop them.",
      examples: ["tasks states-for-dag-run hello 2026-01-31", "tasks logs hello greet manual__1 -f"],
    },
    [list, statesForDagRun, state, logs, render, clear, setState, stop, restart, test].map((make) => make(io)),
  );
