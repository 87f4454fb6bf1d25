// Commander, set up the same way for every command: nothing exits the process, nothing writes past the Io.
import { Command } from "commander";
import type { Io } from "./io.ts";

export interface CommandText {
  readonly about: string;
  /** Whole command lines after `millrace`, shown below the help. */
  readonly examples?: readonly string[];
}

export function newCommand(io: Io, name: string, { about, examples = [] }: CommandText): Command {
  const command = new Command(name)
    .description(about)
    .exitOverride()
    .configureOutput({
      writeOut: io.out,
      writeErr: (text) => io.note(text.trimEnd()),
      getOutHelpWidth: () => Math.min(io.columns(), 110),
      getErrHelpWidth: () => Math.min(io.columns(), 110),
      getOutHasColors: () => io.isTty,
    })
    .configureHelp({ styleTitle: (title) => io.colors.bold(title), sortSubcommands: false })
    .helpOption("-h, --help", "Show this help.")
    .showSuggestionAfterError(true);
  if (examples.length > 0) {
    const lines = examples.map((line) => `  $ millrace ${line}`).join("\n");
    command.addHelpText("after", `\n${io.colors.bold("Examples:")}\n${lines}\n`);
  }
  return command;
}

/** A command of commands, as `millrace dags`. */
export function newGroup(io: Io, name: string, text: CommandText, commands: readonly Command[]): Command {
  const group = newCommand(io, name, text).helpCommand(false).usage("<command> [options]");
  for (const command of commands) group.addCommand(command);
  return group;
}
