// The entry of every Millrace process.
import { processIo } from "./io/io.ts";
import { runCli } from "./run-cli.ts";

// `millrace dags list | head -1`: the reader has seen enough, and a closed terminal reads nothing any more.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE" && error.code !== "EIO") throw error;
  });
}

process.exitCode = await runCli(process.argv.slice(2), processIo());

// Nothing should be left that keeps the process alive; should something be, the user need not wait for it.
setTimeout(() => process.exit(), 2_000).unref();
