// Millrace as it is deployed: a database of its own, DAGs read as the dag-processor reads them, and real scheduler and
// worker processes on Redis, started through the command line.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleDagFile, parseInChild, recordParsed } from "@millrace/scheduler/dag-processor";
import { loadConfig } from "@millrace/shared/config";
import { Database, DagVersions, migrate } from "@millrace/shared/db";
import { createLogger } from "@millrace/shared/observability";
import { openBroker, type Broker } from "@millrace/shared/queue";
import type { Services } from "@millrace/testkit/services";
import pg from "pg";
import { watchStatements } from "./statements.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

export interface EngineOptions {
  readonly services: Services;
  readonly schedulers: number;
  readonly workers: number;
  readonly concurrency: number;
  /** Default: none. */
  readonly triggerers?: number;
  /** Default: none. */
  readonly apis?: number;
  readonly env?: Readonly<Record<string, string>>;
}

interface EngineProcess {
  readonly name: string;
  readonly child: ChildProcess;
  /** What it said when it was ready. */
  readonly ready: string;
}

export const ADMIN = { username: "admin", password: "bench" };

export class Engine {
  readonly db: Database;
  readonly broker: Broker;
  readonly versions: DagVersions;
  readonly #options: EngineOptions;
  readonly #env: Readonly<Record<string, string>>;
  readonly #folder: string;
  #processes: readonly EngineProcess[] = [];

  private constructor(
    doors: { readonly db: Database; readonly broker: Broker },
    options: EngineOptions,
    env: Readonly<Record<string, string>>,
    folder: string,
  ) {
    this.db = doors.db;
    this.broker = doors.broker;
    this.versions = new DagVersions(doors.db);
    this.#options = options;
    this.#env = env;
    this.#folder = folder;
  }

  /** @param dagFiles names in bench/dags */
  static async start(options: EngineOptions, dagFiles: readonly string[]): Promise<Engine> {
    const engine = await Engine.prepare(options, dagFiles);
    await engine.startProcesses();
    return engine;
  }

  /** A database with those DAGs, and no process yet. */
  static async prepare(options: EngineOptions, dagFiles: readonly string[]): Promise<Engine> {
    const folder = await mkdtemp(join(tmpdir(), "millrace-bench-"));
    const url = await freshDatabase(options.services.postgresUrl);
    await migrate(url);
    await watchStatements(url);
    const env = {
      MILLRACE__DATABASE__URL: url,
      MILLRACE__BROKER__URL: options.services.redisUrl,
      MILLRACE__BROKER__PREFIX: `bench${Date.now()}`,
      MILLRACE__CORE__DAGS_ARE_PAUSED_AT_CREATION: "false",
      MILLRACE__CORE__PARALLELISM: String(Math.max(1, options.concurrency * options.workers * 8)),
      MILLRACE__WORKERS__CONCURRENCY: String(options.concurrency),
      MILLRACE__LOGGING__BASE_LOG_FOLDER: join(folder, "logs"),
      MILLRACE__LOGGING__LOGGING_LEVEL: "warn",
      MILLRACE__API__PORT: "0",
      MILLRACE__API_AUTH__ADMIN_PASSWORD: ADMIN.password,
      ...options.env,
    };
    const config = loadConfig({ env, cwd: folder });
    const log = createLogger({ level: "warn", name: "bench" });
    const db = new Database({ url, applicationName: "bench", maxConnections: 5, maxRetries: 3, log });
    const broker = openBroker({ url: options.services.redisUrl, prefix: config.broker.prefix, databaseUrl: url, log });
    await db.read("update slot_pool set slots = 100000");
    for (const file of dagFiles) await readDags(db, config, join(ROOT, "bench/dags", file));
    return new Engine({ db, broker }, options, env, folder);
  }

  get processes(): readonly EngineProcess[] {
    return this.#processes;
  }

  /** Where its first API listens. */
  get apiUrl(): URL {
    const said = this.#processes.find(({ name }) => name === "api")?.ready;
    return new URL(/http:\S+/.exec(said ?? "")?.[0] ?? "");
  }

  async startProcesses(): Promise<void> {
    const { schedulers, workers, triggerers = 0, apis = 0 } = this.#options;
    const names = { scheduler: schedulers, worker: workers, triggerer: triggerers, api: apis };
    const started = await Promise.allSettled(
      Object.entries(names).flatMap(([name, count]) =>
        Array.from({ length: count }, () => startProcess(name, this.#env, this.#folder)),
      ),
    );
    this.#processes = started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    const failed = started.find((one) => one.status === "rejected");
    if (failed === undefined) return;
    await this.stopProcesses();
    throw failed.reason;
  }

  /** The database stays. */
  async stopProcesses(): Promise<void> {
    for (const { child } of this.#processes) child.kill("SIGTERM");
    await Promise.all(
      this.#processes
        .filter(({ child }) => child.exitCode === null && child.signalCode === null)
        .map(({ child }) => once(child, "exit")),
    );
    this.#processes = [];
  }

  async stop(): Promise<void> {
    await this.stopProcesses();
    await this.broker.close();
    await this.db.close();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

let databases = 0;

async function freshDatabase(postgresUrl: string): Promise<string> {
  const client = new pg.Client(postgresUrl);
  await client.connect();
  const name = `bench_${Date.now()}_${databases++}`;
  await client.query(`create database ${name}`);
  await client.end();
  const url = new URL(postgresUrl);
  url.pathname = `/${name}`;
  return url.toString();
}

async function readDags(db: Database, config: ReturnType<typeof loadConfig>, fileloc: string): Promise<void> {
  const bundle = await bundleDagFile(fileloc);
  if ("problems" in bundle) throw new Error(`${fileloc}: ${JSON.stringify(bundle.problems)}`);
  const parsed = await parseInChild(bundle, { timeoutMs: 30_000, memoryMb: 512 });
  if (parsed.kind !== "read") throw new Error(`${fileloc}: ${JSON.stringify(parsed)}`);
  const file = fileloc.slice(dirname(fileloc).length + 1);
  const recorded = await recordParsed(db, { file, fileloc, bundle, dags: parsed.dags, durationMs: 0 }, config);
  if (recorded.kind === "refused") throw new Error(`${fileloc}: ${recorded.message}`);
}

async function startProcess(name: string, env: Readonly<Record<string, string>>, cwd: string): Promise<EngineProcess> {
  const child = spawn(
    process.execPath,
    ["--import", join(ROOT, "packages/cli/bin/register.mjs"), join(ROOT, "packages/cli/src/main.ts"), name],
    { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "inherit"] },
  );
  const ready = await new Promise<string>((resolve, reject) => {
    child.stdout.on("data", (chunk: Buffer) => {
      if (chunk.toString().includes("ready")) resolve(chunk.toString());
    });
    child.once("exit", (code) => reject(new Error(`${name} ended with code ${code} before it was ready`)));
  });
  return { name, child, ready };
}
