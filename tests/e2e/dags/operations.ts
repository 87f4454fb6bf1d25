// Tasks that are cleared, marked and stopped while they run. Each notes what happens to it in a file of its own, in the
// folder that the run is given; a second try ends at once.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { Dag, getContext } from "@millrace/sdk";
import { bash } from "@millrace/sdk/operators";

const fileOf = (): string => join(String(getContext().conf["folder"]), getContext().taskId);
const note = (what: string): void => appendFileSync(fileOf(), `${what} ${Date.now()}\n`);

/** Ends when it is asked to, with a value that comes too late. */
const heeding = new Dag("operations_heeding", { isPausedUponCreation: false });
const heeds = heeding.task(
  "heeds",
  async () => {
    const { signal, tryNumber } = getContext();
    note("started");
    if (tryNumber > 1) return "second";
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    note("aborted");
    return "late";
  },
  { retries: 1 },
);
const after = heeding.task("after", () => "after");
after().after(heeds());

/** Hears nothing. */
const stubborn = new Dag("operations_stubborn", { isPausedUponCreation: false });
stubborn.task(
  "ignores",
  async () => {
    const path = fileOf();
    note("started");
    if (getContext().tryNumber > 1) return;
    process.on("SIGTERM", () => appendFileSync(path, `sigterm ${Date.now()}\n`));
    await new Promise(() => setInterval(() => undefined, 1_000));
  },
  { retries: 1 },
)();

/** Leaves processes behind that hear nothing either. */
const scripting = new Dag("operations_scripting", { isPausedUponCreation: false });
const script = scripting.task(
  "script",
  bash(`trap '' TERM; bash -c "trap '' TERM; sleep 600" & echo "$! $(date +%s)" >> "$FILE"; sleep 600`, {
    env: () => ({ FILE: fileOf() }),
  }),
);
scripting
  .task("behind", () => "behind")()
  .after(script());
