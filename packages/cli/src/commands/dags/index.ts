import type { Command } from "commander";
import { newGroup } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { list } from "./list.ts";
import { listImportErrors } from "./list-import-errors.ts";
import { listRuns } from "./list-runs.ts";
import { pause, unpause } from "./pause.ts";
import { preview } from "./preview.ts";
import { report } from "./report.ts";
import { deleteRunCommand, setRunState } from "./set-run-state.ts";
import { show } from "./show.ts";
import { simulate } from "./simulate.ts";
import { source } from "./source.ts";
import { state } from "./state.ts";
import { test } from "./test.ts";
import { trigger } from "./trigger.ts";
import { versions } from "./versions.ts";

const COMMANDS = [
  list,
  show,
  preview,
  trigger,
  test,
  simulate,
  listRuns,
  state,
  setRunState,
  deleteRunCommand,
  pause,
  unpause,
  versions,
  source,
  listImportErrors,
  report,
];

export const dags = (io: Io): Command =>
  newGroup(
    io,
    "dags",
    {
      about: "List, test, trigger, pause and inspect DAGs and their runs.",
      examples: ["dags list", "dags test ./dags/hello.ts"],
    },
    COMMANDS.map((make) => make(io)),
  );
