import type { SkippedDate } from "@millrace/shared/db";
import type { Command } from "commander";
import { wholeNumber } from "../../io/arguments.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { withMasked } from "../../open-secrets.ts";
import { addOutputOption, printList, type Column, type OutputOption } from "../../output/format.ts";
import { BACKFILL_COLUMNS } from "./columns.ts";

interface Options extends OutputOption {
  readonly wait?: boolean;
}

const SKIPPED_SHOWN = 20;
const SKIPPED_COLUMNS: readonly Column<SkippedDate>[] = [
  { key: "logical_date", value: (date) => date.logicalDate },
  { key: "exception_reason", value: (date) => date.exceptionReason },
];

export const show = (io: Io): Command =>
  addOutputOption(
    newCommand(io, "show", {
      about: "Show how far a backfill is, and the dates that got no run.",
      examples: ["backfill show 7", "backfill show 7 --wait", "backfill show 7 -o json"],
    })
      .argument("<backfill>", "Its id.", wholeNumber(0))
      .option("--wait", "Go on showing it until it is over."),
  ).action(async (id: number, options: Options) => {
    await withMasked(io, async ({ db, io: masked }) => {
      const [{ getBackfill, listSkippedDates }, { advanceOf, watchBackfill }, { textOf }] = await Promise.all([
        import("@millrace/shared/db"),
        import("./watch-backfill.ts"),
        import("../../output/progress-bar.ts"),
      ]);
      const backfill = options.wait === true ? await watchBackfill(io, db, id) : await getBackfill(db, id);
      if (options.output !== "table") return await printList(masked, options.output, BACKFILL_COLUMNS, [backfill]);
      io.out(`${textOf(io, advanceOf(backfill))}\n`);
      if (backfill.planError !== null) io.note(backfill.planError);
      if (backfill.skipped === 0) return;
      await printList(io, "table", SKIPPED_COLUMNS, await listSkippedDates(db, id, SKIPPED_SHOWN));
      if (backfill.skipped > SKIPPED_SHOWN) io.note(`${SKIPPED_SHOWN} of ${backfill.skipped} dates without a run`);
    });
  });
