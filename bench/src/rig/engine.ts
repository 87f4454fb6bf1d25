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

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

export interface EngineOptions {
  readonly services: Services;
  readonly schedulers: number;
  readonly workers: number;
  readonly concurrency: number;
  /** Default: none. */
  readonly triggerers?: number;
  readonly env?: Readonly<Record<string, string>>;
}

export class Engine {
  readonly db: Database;
  readonly broker: Broker;
  readonly versions: DagVersions;
  readonly processes: readonly { readonly name: string; readonly child: ChildProcess }[];
  readonly #folder: string;

  private constructor(db: Database, broker: Broker, folder: string, processes: Engine["processes"]) {
    this.db = db;
    this.broker = broker;
    this.versions = new DagVersions(db);
    this.processes = processes;
    this.#folder = folder;
  }

  /** @param dagFiles names in bench/dags */
  static async start(options: EngineOptions, dagFiles: readonly string[]): Promise<Engine> {
    const folder = await mkdtemp(join(tmpdir(), "millrace-bench-"));
    const url = await freshDatabase(options.services.postgresUrl);
    await migrate(url);
    const env = {
      MILLRACE__DATABASE__URL: url,
      MILLRACE__BROKER__URL: options.services.redisUrl,
      MILLRACE__BROKER__PREFIX: `bench${Date.now()}`,
      MILLRACE__CORE__DAGS_ARE_PAUSED_AT_CREATION: "false",
      MILLRACE__CORE__PARALLELISM: String(Math.max(1, options.concurrency * options.workers * 8)),
      MILLRACE__WORKERS__CONCURRENCY: String(options.concurrency),
      MILLRACE__LOGGING__BASE_LOG_FOLDER: join(folder, "logs"),
      MILLRACE__LOGGING__LOGGING_LEVEL: "warn",
      ...options.env,
    };
    const config = loadConfig({ env, cwd: folder });
    const log = createLogger({ level: "warn", name: "bench" });
    const db = new Database({ url, applicationName: "bench", maxConnections: 5, maxRetries: 3, log });
    const broker = openBroker({ url: options.services.redisUrl, prefix: config.broker.prefix, databaseUrl: url, log });
    await db.read("update slot_pool set slots = 100000");
    for (const file of dagFiles) await readDags(db, config, join(ROOT, "bench/dags", file));
    const start = (name: string, args: readonly string[]) => startProcess(name, args, env, folder);
    const processes = await Promise.all([
      ...Array.from({ length: options.schedulers }, () => start("scheduler", ["scheduler"])),
      ...Array.from({ length: options.workers }, () => start("worker", ["worker"])),
      ...Array.from({ length: options.triggerers ?? 0 }, () => start("triggerer", ["triggerer"])),
    ]);
    return new Engine(db, broker, folder, processes);
  }

  async stop(): Promise<void> {
    for (const { child } of this.processes) child.kill("SIGTERM");
    await Promise.all(
      this.processes
        .filter(({ child }) => child.exitCode === null && child.signalCode === null)
        .map(({ child }) => once(child, "exit")),
    );
    await this.broker.close();
    await this.db.close();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

async function freshDatabase(postgresUrl: string): Promise<string> {
  const client = new pg.Client(postgresUrl);
  await client.connect();
  const name = `bench_${Date.now()}`;
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

async function startProcess(name: string, args: readonly string[], env: Record<string, string>, cwd: string) {
  const child = spawn(
    process.execPath,
    ["--import", join(ROOT, "packages/cli/bin/register.mjs"), join(ROOT, "packages/cli/src/main.ts"), ...args],
    { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "inherit"] },
  );
  await new Promise<void>((resolve, reject) => {
    child.stdout.on("data", (chunk: Buffer) => {
      if (chunk.toString().includes("ready")) resolve();
    });
    child.once("exit", (code) => reject(new Error(`${name} ended with code ${code} before it was ready`)));
  });
  return { name, child };
}
