// Everything of Millrace in this process, in the order in which it can be undone: what is started last takes no more
// work first. Stopping goes api, dag-processor, scheduler, worker, triggerer, broker, databases, Postgres.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "@millrace/shared/config";
import { migrate, type Database } from "@millrace/shared/db";
import { AppError, messageOf } from "@millrace/shared/errors";
import type { Service } from "@millrace/shared/lifecycle";
import { createLogger, type Logger } from "@millrace/shared/observability";
import { openBroker } from "@millrace/shared/queue";
import { openDatabase } from "../process/open-database.ts";
import type { Doors } from "../process/open-doors.ts";
import { isListening, keptPostgresPort } from "./data-folder.ts";
import { startEmbeddedPostgres, type EmbeddedPostgres } from "./embedded-postgres.ts";
import type { ProcessLog } from "./process-log.ts";
import type { Steps } from "./steps.ts";
import { provideWeatherDatabase } from "./weather-database.ts";

export interface StartPlan {
  readonly dir: string;
  readonly steps: Steps;
  readonly log: ProcessLog;
  readonly configFor: (databaseUrl: string) => Promise<Config>;
}

export interface Running {
  readonly url: string;
  readonly config: Config;
  /** For what is shown; the services have theirs. */
  readonly db: Database;
  readonly postgres: EmbeddedPostgres;
}

// Five services and their broker, with room for people who look inside.
const SERVICES = 5;
const OTHER_CONNECTIONS = 60;

export async function startAll({ dir, steps, log, configFor }: StartPlan): Promise<Running> {
  // Loading the rooms takes about as long as Postgres takes to start, so it is done meanwhile.
  const loading = loadRooms();
  loading.catch(() => undefined);
  const planned = await configFor("");
  await requireFreePort(planned);
  const poolSize = planned.database.sql_alchemy_pool_size;
  const postgres = await steps.run(
    "Postgres",
    async () => await startPostgres(dir, SERVICES * poolSize + OTHER_CONNECTIONS),
    (server) => server.stop(),
  );
  const config = await configFor(postgres.url);
  const logOf = (name: string): Logger => createLogger({ level: config.logging.logging_level, name, destination: log });

  await steps.run("schema", () =>
    migrate(postgres.url, { defaultPoolSlots: config.core.default_pool_task_slot_count }),
  );
  const open = (name: string): Database => {
    const db = openDatabase(config, name, logOf(name));
    steps.onStop(`database of ${name}`, () => db.close());
    return db;
  };
  const db = open("standalone");
  await steps.run("database of the examples", () => provideWeatherDatabase(db));
  await mkdir(config.core.dags_folder, { recursive: true });

  const brokerLog = logOf("broker");
  const broker = await steps.run(
    "broker",
    async () => {
      const opened = openBroker({ ...config.broker, databaseUrl: postgres.url, log: brokerLog });
      await opened.check();
      return opened;
    },
    (opened) => opened.close(),
  );
  const rooms = await steps.run("services loaded", () => loading);
  const doorsOf = (name: string): Doors => ({ db: open(name), broker, config, log: logOf(name) });
  const api = rooms.createApi(doorsOf("api"));
  const services: readonly (readonly [name: string, service: Service])[] = [
    ["triggerer", rooms.createTriggerer(doorsOf("triggerer"))],
    ["worker", rooms.createWorker(doorsOf("worker"))],
    ["scheduler", rooms.createScheduler(doorsOf("scheduler"))],
    ["dag-processor", new rooms.DagProcessor(doorsOf("dag-processor"))],
    ["api", api],
  ];
  // Each waits for processes, files or the network most of the time.
  await steps.together(
    services.map(([name, service]) => ({ name, start: () => service.start(), stop: () => service.stop() })),
  );
  return { url: api.url, config, db, postgres };
}

/** @throws AppError STANDALONE_POSTGRES_FAILED */
async function startPostgres(dir: string, maxConnections: number): Promise<EmbeddedPostgres> {
  const port = await keptPostgresPort(dir);
  try {
    const settings = { max_connections: maxConnections };
    return await startEmbeddedPostgres({ dir: join(dir, "postgres"), port, settings });
  } catch (error) {
    throw new AppError("STANDALONE_POSTGRES_FAILED", { cause: messageOf(error) }, { cause: error });
  }
}

async function loadRooms() {
  const [{ createScheduler }, { DagProcessor }, { createWorker }, { createTriggerer }, { createApi }] =
    await Promise.all([
      import("@millrace/scheduler"),
      import("@millrace/scheduler/dag-processor"),
      import("@millrace/worker"),
      import("@millrace/triggerer"),
      import("@millrace/api"),
    ]);
  return { createScheduler, DagProcessor, createWorker, createTriggerer, createApi };
}

/** Seen before anything is started: the message comes at once. */
async function requireFreePort({ api: { host, port } }: Config): Promise<void> {
  if (port === 0) return;
  if (await isListening(host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host, port)) {
    throw new AppError("STANDALONE_PORT_IN_USE", { target: `${host}:${port}`, port });
  }
}
