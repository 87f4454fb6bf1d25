import type { Command } from "commander";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { addOutputOption, printList, type Column, type OutputOption } from "../../output/format.ts";
import { configOf } from "../../process/config-of.ts";
import { configRows, type ConfigRow } from "./options.ts";

interface Options extends OutputOption {
  readonly section?: string;
  readonly showSecrets?: boolean;
}

const COLUMNS: readonly Column<ConfigRow>[] = [
  { key: "section", value: (row) => row.section, for: "programs" },
  { key: "option", value: (row) => row.option, shown: (row) => `${row.section}.${row.option}` },
  { key: "value", value: (row) => row.value, shown: (row) => String(row.value) },
  { key: "about", value: (row) => row.about },
  { key: "environment", value: (row) => row.environment, for: "programs" },
];

export const list = (io: Io): Command =>
  addOutputOption(
    newCommand(io, "list", {
      about: "List every option with its value.",
      examples: ["config list --section api -o json"],
    })
      .option("--section <name>", "Only this section.")
      .option("--show-secrets", "Passwords and keys, too."),
  ).action(async (options: Options) => {
    const rows = configRows(configOf(io, {}, []), options.showSecrets === true);
    await printList(
      io,
      options.output,
      COLUMNS,
      rows.filter((row) => options.section === undefined || row.section === options.section),
    );
  });
