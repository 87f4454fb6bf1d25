// The entry of every Millrace process.
import { processIo } from "./io/io.ts";
import { runCli } from "./run-cli.ts";

process.exitCode = await runCli(process.argv.slice(2), processIo());

// Nothing should be left that keeps the process alive; should something be, the user need not wait for it.
setTimeout(() => process.exit(), 2_000).unref();
