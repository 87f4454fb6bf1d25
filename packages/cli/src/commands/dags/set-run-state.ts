import type { Announced } from "@millrace/shared/queue";
import type { Command } from "commander";
import { withDatabase, type DatabaseWork } from "../../actions.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { userName } from "../../user-name.ts";
import { confirm, openVersions, waiting } from "../confirm-change.ts";
import { findRun } from "../find-run.ts";

export const setRunState = (io: Io): Command =>
  newCommand(io, "set-run-state", {
    about: "Give a run a state: success or failed ends it with its tasks, queued lets it go on.",
    examples: ["dags set-run-state hello manual__1 failed", "dags set-run-state hello 2026-01-31 queued -y"],
  })
    .argument("<dag>", "Id of the DAG.")
    .argument("<run>", "Run id, or logical date.")
    .argument("<state>", "success, failed or queued.")
    .option("--no-callbacks", "Without callbacks.")
    .option("-y, --yes", "Do not ask.")
    .action(async (dagId: string, run: string, state: string, options: { yes?: boolean; callbacks: boolean }) => {
      await withDatabase(io, async (work) => {
        const { markRun } = await import("@millrace/shared/db");
        const { runId, state: before } = await findRun(work, dagId, run);
        await confirm(io, `Set run ${runId} of ${dagId}, which is ${before}, ${state}?`, options.yes);
        const operated = await markRun(work.db, await openVersions(work), {
          ...{ dagId, runId, state, runCallbacks: options.callbacks, user: `cli ${userName()}` },
        });
        await announce(work, operated);
        io.note(`${runId} is set ${state}${waiting(operated)}`);
      });
    });

export const deleteRunCommand = (io: Io): Command =>
  newCommand(io, "delete-run", {
    about: "Delete a run with its tasks, their history and their values. Not while it runs.",
    examples: ["dags delete-run hello manual__1"],
  })
    .argument("<dag>", "Id of the DAG.")
    .argument("<run>", "Run id, or logical date.")
    .option("-y, --yes", "Do not ask.")
    .action(async (dagId: string, run: string, options: { yes?: boolean }) => {
      await withDatabase(io, async (work) => {
        const { deleteRun } = await import("@millrace/shared/db");
        const { runId } = await findRun(work, dagId, run);
        await confirm(io, `Delete run ${runId} of ${dagId} with all its tasks?`, options.yes);
        const user = `cli ${userName()}`;
        await announce(work, await deleteRun(work.db, await openVersions(work), { dagId, runId, user }));
        io.note(`${runId} is deleted`);
      });
    });

async function announce({ config }: DatabaseWork, change: Announced) {
  const { announceChange } = await import("../../process/announce-change.ts");
  await announceChange(config, change);
}
