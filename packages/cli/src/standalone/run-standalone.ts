// The life of `millrace standalone`: one folder, all services in this process, until Ctrl-C.
import { relative, resolve } from "node:path";
import type { StandaloneOptions } from "../commands/standalone.ts";
import type { Io } from "../io/io.ts";
import { Ended } from "../io/report-error.ts";
import { endOnCrash } from "../process/crash-handlers.ts";
import { listenForStop, type StopSignals } from "../process/stop-signals.ts";
import { createLogger } from "@millrace/shared/observability";
import { makeDataFolder } from "./data-folder.ts";
import { lockFolder } from "./folder-lock.ts";
import { createLiveView } from "./live-view.ts";
import { openProcessLog } from "./process-log.ts";
import { standaloneConfig } from "./standalone-config.ts";
import { startAll, type Running } from "./start-all.ts";
import { Steps } from "./steps.ts";

export async function runStandalone(io: Io, options: StandaloneOptions): Promise<void> {
  const dir = resolve(io.cwd, options.data);
  await makeDataFolder(dir);
  const unlock = await lockFolder(dir);
  const stop = listenForStop();
  let print = (line: string) => io.out(`${line}\n`);
  const log = openProcessLog(io, dir, (line) => print(line));
  const ignoreCrashes = endOnCrash(createLogger({ level: "info", name: "standalone", destination: log }));
  // Timers of services do not hold the process.
  const hold = setInterval(() => undefined, 60_000);
  const steps = new Steps((line) => print(line), stop.signal);
  try {
    print(io.colors.bold("Millrace is starting"));
    const running = await startAll({
      dir,
      steps,
      log,
      configFor: async (url) => await standaloneConfig(io, options, dir, url),
    });
    print(banner(io, running, { dir, ms: steps.elapsedMs }));
    const view = createLiveView(io, running.db);
    if (options.quiet !== true) {
      print = view.print;
      await view.start();
    }
    const ended = await untilStopped(running, stop);
    await view.stop();
    print = (line) => io.out(`${line}\n`);
    print(io.colors.bold(`\nMillrace is stopping${ended === "postgres" ? ": Postgres has ended" : ""}`));
    if (ended === "postgres") throw new Ended(1);
  } finally {
    const begin = performance.now();
    log.tellOnlyErrors();
    await steps.stop();
    clearInterval(hold);
    ignoreCrashes();
    stop.dispose();
    log.close();
    await unlock();
    print(`Millrace has stopped (${(performance.now() - begin).toFixed(0)} ms); its data is in ${shown(io, dir)}`);
  }
}

/** A signal, or the end of Postgres without anybody having asked for it. */
const untilStopped = async (running: Running, stop: StopSignals): Promise<"signal" | "postgres"> =>
  await Promise.race([
    stop.received.then(() => "signal" as const),
    running.postgres.exited.then(() => "postgres" as const),
  ]);

function banner(io: Io, { url, config }: Running, { dir, ms }: { dir: string; ms: number }): string {
  const { colors } = io;
  const row = (name: string, value: string, note = "") => `  ${name.padEnd(10)}${value}${colors.dim(note)}`;
  return [
    "",
    `${colors.green("Millrace is ready")} after ${(ms / 1000).toFixed(1)} s`,
    "",
    row("URL", colors.cyan(url)),
    row("User", config.api_auth.admin_user),
    row("Password", config.api_auth.admin_password, `   (kept in ${shown(io, resolve(dir, "admin-password"))})`),
    row("DAGs", shown(io, config.core.dags_folder)),
    row("Data", shown(io, dir), "   (logs of the services in millrace.log)"),
    "",
    "Ctrl-C stops it; the data stays.",
  ].join("\n");
}

/** As short as it can be written from here. */
function shown(io: Io, path: string): string {
  const short = relative(io.cwd, path);
  return short === "" ? "." : short.startsWith("..") ? path : short;
}
