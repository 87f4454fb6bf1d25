import type { Command } from "commander";
import { withDatabase } from "../../actions.ts";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { addOutputOption, printList, type Column, type OutputOption } from "../../output/format.ts";

interface Options extends OutputOption {
  readonly showValues?: boolean;
}

interface Row {
  readonly key: string;
  readonly val: string;
  readonly description: string | null;
}

export const list = (io: Io): Command =>
  addOutputOption(
    newCommand(io, "list", {
      about: "List the variables.",
      examples: ["variables list", "variables list --show-values"],
    }).option("--show-values", "Their values, too."),
  ).action(async (options: Options) => {
    const rows = await withDatabase(
      io,
      async ({ db }) => await db.read<Row>("select key, val, description from variable order by key"),
    );
    const columns: Column<Row>[] = [
      { key: "key", value: (row) => row.key },
      ...(options.showValues === true ? [{ key: "value", value: (row: Row) => row.val }] : []),
      { key: "description", value: (row) => row.description },
    ];
    await printList(io, options.output, columns, rows);
  });
