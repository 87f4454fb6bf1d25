import type { Command } from "commander";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { answer } from "./answer.ts";
import { list } from "./list.ts";
import { show } from "./show.ts";

export const hitl = (io: Io): Command =>
  newCommand(io, "hitl", { about: "See what tasks ask people, and answer." })
    .addCommand(list(io))
    .addCommand(show(io))
    .addCommand(answer(io));
