import { newCommand } from "./io/command.ts";
import type { Io } from "./io/io.ts";
import { reportError } from "./io/report-error.ts";
import { ownVersion } from "./own-version.ts";
import { COMMANDS } from "./commands/index.ts";

/** Runs one command line (without `node millrace`) to its end; gives its exit code. Never rejects. */
export async function runCli(argv: readonly string[], io: Io): Promise<number> {
  try {
    const program = await buildProgram(argv, io);
    await program.parseAsync([...argv], { from: "user" });
    return 0;
  } catch (error) {
    return reportError(io, error);
  }
}

/** Only the command that was named is loaded: help and typing errors need no more than the names. */
async function buildProgram(argv: readonly string[], io: Io) {
  const named = argv.filter((word) => !word.startsWith("-"));
  const wanted = named[0] === "help" ? named[1] : named[0];
  const program = newCommand(io, "millrace", {
    about: "Millrace, a distributed workflow scheduler.",
    examples: ["standalone", "dags trigger hello --wait", "dags test ./dags/hello.ts", "help dags"],
  })
    .usage("<command> [options]")
    .version(ownVersion(), "-V, --version", "Show the version.")
    .helpCommand("help [command]", "Show the help of a command.");
  for (const entry of COMMANDS) {
    const command =
      entry.name === wanted ? (await entry.load())(io) : newCommand(io, entry.name, { about: entry.about });
    program.addCommand(command.helpGroup(entry.heading));
  }
  program.addHelpText(
    "after",
    "\nSettings come from MILLRACE__SECTION__OPTION variables, then millrace.config.json, then defaults;\n" +
      "`millrace config list` shows them.",
  );
  return program;
}
