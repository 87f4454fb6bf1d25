// Every command by its first word. Only the one that was named is loaded.
import type { Command } from "commander";
import type { Io } from "../io/io.ts";

export interface CommandEntry {
  readonly name: string;
  readonly heading: string;
  readonly about: string;
  readonly load: () => Promise<(io: Io) => Command>;
}

const START = "Start here:";
const PROCESSES = "Processes:";
const OPERATE = "Operate:";
const INSTALLATION = "Installation:";

export const COMMANDS: readonly CommandEntry[] = [
  {
    name: "standalone",
    heading: START,
    about: "Start all of Millrace on this machine, Postgres included.",
    load: async () => (await import("./standalone.ts")).standalone,
  },
  {
    name: "scheduler",
    heading: PROCESSES,
    about: "Start a scheduler: it creates due runs and queues tasks.",
    load: async () => (await import("./process/scheduler.ts")).scheduler,
  },
  {
    name: "dag-processor",
    heading: PROCESSES,
    about: "Start a dag-processor: it watches the DAG folder.",
    load: async () => (await import("./process/dag-processor.ts")).dagProcessor,
  },
  {
    name: "worker",
    heading: PROCESSES,
    about: "Start a worker: it runs tasks.",
    load: async () => (await import("./process/worker.ts")).worker,
  },
  {
    name: "triggerer",
    heading: PROCESSES,
    about: "Start a triggerer: it waits for deferred tasks.",
    load: async () => (await import("./process/triggerer.ts")).triggerer,
  },
  {
    name: "api",
    heading: PROCESSES,
    about: "Start the API and the web interface.",
    load: async () => (await import("./process/api.ts")).api,
  },
  {
    name: "dags",
    heading: OPERATE,
    about: "List, test, trigger, pause and inspect DAGs and their runs.",
    load: async () => (await import("./dags/index.ts")).dags,
  },
  {
    name: "tasks",
    heading: OPERATE,
    about: "Look at tasks, their states and logs; clear, mark and stop them.",
    load: async () => (await import("./tasks/index.ts")).tasks,
  },
  {
    name: "backfill",
    heading: OPERATE,
    about: "Run DAGs for dates of their past.",
    load: async () => (await import("./backfill/index.ts")).backfill,
  },
  {
    name: "assets",
    heading: OPERATE,
    about: "See assets and their events; run what updates one.",
    load: async () => (await import("./assets/index.ts")).assets,
  },
  {
    name: "explain",
    heading: OPERATE,
    about: "Say why a run or a task does not go on.",
    load: async () => (await import("./explain.ts")).explain,
  },
  {
    name: "hitl",
    heading: OPERATE,
    about: "See what tasks ask people, and answer.",
    load: async () => (await import("./hitl/index.ts")).hitl,
  },
  {
    name: "xcoms",
    heading: OPERATE,
    about: "See what tasks handed on.",
    load: async () => (await import("./xcoms/index.ts")).xcoms,
  },
  {
    name: "pools",
    heading: OPERATE,
    about: "List and change pools.",
    load: async () => (await import("./pools/index.ts")).pools,
  },
  {
    name: "variables",
    heading: OPERATE,
    about: "List and change variables.",
    load: async () => (await import("./variables/index.ts")).variables,
  },
  {
    name: "connections",
    heading: OPERATE,
    about: "List, change and test connections.",
    load: async () => (await import("./connections/index.ts")).connections,
  },
  {
    name: "db",
    heading: INSTALLATION,
    about: "Migrate and check the database.",
    load: async () => (await import("./db/index.ts")).db,
  },
  {
    name: "secrets",
    heading: INSTALLATION,
    about: "Look after the encryption of variables and connections.",
    load: async () => (await import("./secrets/index.ts")).secrets,
  },
  {
    name: "jobs",
    heading: INSTALLATION,
    about: "See whether processes live.",
    load: async () => (await import("./jobs/index.ts")).jobs,
  },
  {
    name: "queue",
    heading: INSTALLATION,
    about: "Put the broker's queues right.",
    load: async () => (await import("./queue/index.ts")).queue,
  },
  {
    name: "config",
    heading: INSTALLATION,
    about: "Show the configuration.",
    load: async () => (await import("./config/index.ts")).config,
  },
  {
    name: "version",
    heading: INSTALLATION,
    about: "Show the version.",
    load: async () => (await import("./version.ts")).version,
  },
];
