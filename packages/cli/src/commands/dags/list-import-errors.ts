import type { ImportErrorRow } from "@millrace/shared/db";
import type { Command } from "commander";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { withMasked } from "../../open-secrets.ts";
import { Ended } from "../../io/report-error.ts";
import { addOutputOption, printList, type Column, type OutputOption } from "../../output/format.ts";

const COLUMNS: readonly Column<ImportErrorRow>[] = [
  { key: "filepath", value: (error) => error.filename },
  { key: "error", value: (error) => error.stacktrace },
  { key: "timestamp", value: (error) => error.timestamp, for: "programs" },
  { key: "bundle_name", value: (error) => error.bundleName, for: "programs" },
];

export const listImportErrors = (io: Io): Command =>
  addOutputOption(
    newCommand(io, "list-import-errors", {
      about: "List the files that could not be read as DAGs. Ends with 1 when there is one.",
      examples: ["dags list-import-errors", "dags list-import-errors -o json"],
    }),
  ).action(async (options: OutputOption) => {
    await withMasked(io, async ({ db, io: masked }) => {
      const reads = await import("@millrace/shared/db");
      const { items } = await reads.listImportErrors(db, { orderBy: ["filename"] });
      if (options.output === "table") {
        // A stack of many lines is unreadable in a column.
        for (const error of items) masked.out(`${io.colors.bold(error.filename)}\n${indent(error.stacktrace)}\n`);
        if (items.length === 0) io.note("every file could be read");
      } else {
        await printList(masked, options.output, COLUMNS, items);
      }
      if (items.length > 0) throw new Ended(1);
    });
  });

const indent = (text: string): string => text.trimEnd().replace(/^/gm, "  ");
