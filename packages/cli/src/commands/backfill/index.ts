import type { Command } from "commander";
import { newGroup } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { cancel, pause, unpause } from "./change.ts";
import { create } from "./create.ts";
import { list } from "./list.ts";
import { show } from "./show.ts";

export const backfill = (io: Io): Command =>
  newGroup(
    io,
    "backfill",
    {
      about: "Run DAGs for dates of their past, and watch, pause and cancel that.",
      examples: ["backfill create --dag-id report --from-date 2026-01-01 --to-date 2026-01-31 --wait", "backfill list"],
    },
    [create, list, show, pause, unpause, cancel].map((make) => make(io)),
  );
