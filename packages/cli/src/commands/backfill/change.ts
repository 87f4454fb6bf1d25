import type { Command } from "commander";
import { withDatabase, type DatabaseWork } from "../../actions.ts";
import { wholeNumber } from "../../io/arguments.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { userName } from "../../user-name.ts";
import { confirm } from "../confirm-change.ts";

const wake = async ({ config }: DatabaseWork) =>
  await (await import("../../process/wake-schedulers.ts")).wakeSchedulers(config, null);

export const pause = (io: Io): Command =>
  newCommand(io, "pause", {
    about: "Start no further run of a backfill; what runs goes on.",
    examples: ["backfill pause 7"],
  })
    .argument("<backfill>", "Its id.", wholeNumber(0))
    .action(async (id: number) => {
      await withDatabase(io, async ({ db }) => {
        const { setBackfillPaused } = await import("@millrace/shared/db");
        await setBackfillPaused(db, id, true, `cli ${userName()}`);
      });
      io.note(`backfill ${id} is paused`);
    });

export const unpause = (io: Io): Command =>
  newCommand(io, "unpause", { about: "Let a paused backfill go on.", examples: ["backfill unpause 7"] })
    .argument("<backfill>", "Its id.", wholeNumber(0))
    .action(async (id: number) => {
      await withDatabase(io, async (work) => {
        const { setBackfillPaused } = await import("@millrace/shared/db");
        await setBackfillPaused(work.db, id, false, `cli ${userName()}`);
        await wake(work);
      });
      io.note(`backfill ${id} goes on`);
    });

export const cancel = (io: Io): Command =>
  newCommand(io, "cancel", {
    about: "End a backfill: what has not begun fails, what runs goes on to its end.",
    examples: ["backfill cancel 7", "backfill cancel 7 -y"],
  })
    .argument("<backfill>", "Its id.", wholeNumber(0))
    .option("-y, --yes", "Do not ask.")
    .action(async (id: number, options: { readonly yes?: boolean }) => {
      await withDatabase(io, async (work) => {
        const { cancelBackfill, getBackfill } = await import("@millrace/shared/db");
        const { dagId, left, running } = await getBackfill(work.db, id);
        await confirm(
          io,
          `Cancel backfill ${id} of ${dagId}, of which ${left - running} dates have not begun?`,
          options.yes,
        );
        const failed = await cancelBackfill(work.db, id, `cli ${userName()}`);
        await wake(work);
        io.note(`backfill ${id} is cancelled: ${failed} queued runs failed`);
      });
    });
