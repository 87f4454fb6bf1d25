import type { Command } from "commander";
import { newCommand } from "../../io/command.ts";
import type { Io } from "../../io/io.ts";
import { UsageError } from "../../io/report-error.ts";
import { configOf } from "../../process/config-of.ts";
import { configRows } from "./options.ts";

export const getValue = (io: Io): Command =>
  newCommand(io, "get-value", {
    about: "Print the value of one option.",
    examples: ["config get-value core parallelism"],
  })
    .argument("<section>", "Its section.")
    .argument("<option>", "Its name.")
    .action((section: string, option: string) => {
      // Whoever asks for one by name wants it whole.
      const row = configRows(configOf(io, {}, []), true).find((r) => r.section === section && r.option === option);
      if (row === undefined)
        throw new UsageError(`there is no option ${section}.${option}; see \`millrace config list\``);
      io.out(`${Array.isArray(row.value) ? row.value.join(",") : String(row.value)}\n`);
    });
