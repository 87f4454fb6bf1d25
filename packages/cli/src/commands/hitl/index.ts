import type { Command } from "commander";
import { newGroup } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { answer } from "./answer.ts";
import { list } from "./list.ts";
import { show } from "./show.ts";

export const hitl = (io: Io): Command =>
  newGroup(
    io,
    "hitl",
    {
      about: "See what tasks ask people, and answer.",
      examples: ["hitl list", "hitl answer release manual__1 approve Approve"],
    },
    [list, show, answer].map((make) => make(io)),
  );
