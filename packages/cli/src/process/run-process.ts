// The life of a process: configuration, database, broker, one service, a line when it is ready, and a clean end.
import { crashPointFile } from "@millrace/shared/config";
import { armCrashPoints, type Service } from "@millrace/shared/lifecycle";
import { createLogger, hideIn } from "@millrace/shared/observability";
import { configRedactor } from "@millrace/shared/secrets";
import type { Io } from "../io/io.ts";
import { Ended } from "../io/report-error.ts";
import { configOf } from "./config-of.ts";
import { endOnCrash } from "./crash-handlers.ts";
import { closeDoors, openDoors, waitForDoors, type Doors } from "./open-doors.ts";
import { listenForStop } from "./stop-signals.ts";

export interface ProcessPlan<S extends Service> {
  readonly name: "scheduler" | "dag-processor" | "worker" | "triggerer" | "api";
  readonly overrides?: Readonly<Record<string, unknown>>;
  readonly waitSeconds: number;
  readonly create: (doors: Doors) => S | Promise<S>;
  /** Said after `<name> is ready`. */
  readonly readyAt?: (service: S) => string;
}

export async function runProcess<S extends Service>(io: Io, plan: ProcessPlan<S>): Promise<void> {
  const config = configOf(io, plan.overrides ?? {}, ["database.url", "broker.url"]);
  const log = createLogger({ level: config.logging.logging_level, name: plan.name });
  hideIn(log, configRedactor(config));
  armCrashPoints(crashPointFile());
  const ignoreCrashes = endOnCrash(log);
  const stop = listenForStop();
  // Timers of services do not hold the process, and a pool may be without connections for a while.
  const hold = setInterval(() => undefined, 60_000);
  try {
    const doors = await waitForDoors(() => openDoors(config, plan.name, log), {
      seconds: plan.waitSeconds,
      say: io.note,
      signal: stop.signal,
    }).catch((error: unknown) => {
      throw stop.signal.aborted ? new Ended(0) : error;
    });
    try {
      await serve(io, plan, doors, stop);
    } finally {
      await closeDoors(doors);
    }
  } finally {
    clearInterval(hold);
    stop.dispose();
    ignoreCrashes();
  }
}

async function serve<S extends Service>(
  io: Io,
  plan: ProcessPlan<S>,
  doors: Doors,
  stop: ReturnType<typeof listenForStop>,
): Promise<void> {
  const service = await plan.create(doors);
  try {
    // A signal while starting does not wait for the start: stop() ends what there is.
    const started = await Promise.race([service.start().then(() => true), stop.received.then(() => false)]);
    if (started) io.out(`${plan.name} is ready${plan.readyAt === undefined ? "" : ` ${plan.readyAt(service)}`}\n`);
    const signal = await stop.received;
    io.note(`${plan.name} stops on ${signal}; a second signal ends it at once`);
  } finally {
    await service.stop();
  }
  io.note(`${plan.name} has stopped`);
}
