// A Postgres of our own for a machine that has none: `millrace standalone` and the tests run on it.
// Owns one directory: `data` (the cluster), `password`, `server.log`. The server never outlives this process,
// and no second one is ever started on the same data.
import { closeSync, openSync } from "node:fs";
import { mkdir, readFile, readdir, readlink, realpath, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { postgresAccount } from "./embedded-postgres/account.ts";
import { postgresBinaries } from "./embedded-postgres/binaries.ts";
import { HERE, USER, ensureCluster, postgresEnv } from "./embedded-postgres/cluster.ts";
import { type Leashed, spawnOnLeash } from "./embedded-postgres/leash.ts";

export { spawnOnLeash, type LeashOptions, type Leashed } from "./embedded-postgres/leash.ts";

export interface EmbeddedPostgresOptions {
  /** Where data, password and log are kept; made if missing, reused if there. */
  readonly dir: string;
  /** @default a free port */
  readonly port?: number;
  /** @default "millrace" */
  readonly database?: string;
  /** Whether a commit survives a power cut. Off makes tests faster. @default true */
  readonly durable?: boolean;
  /** Server settings, as in postgresql.conf. */
  readonly settings?: Readonly<Record<string, string | number>>;
  /** @default 60000 (a crashed cluster replays its log first) */
  readonly startTimeoutMs?: number;
  /** How long to wait for a server on the same data whose owner was killed just now. @default 10000 */
  readonly formerTimeoutMs?: number;
}

export interface EmbeddedPostgres {
  readonly url: string;
  readonly port: number;
  /** The postmaster. */
  readonly pid: number;
  /** Resolves when the server has ended, asked to or not. */
  readonly exited: Promise<unknown>;
  /** Ends sessions, writes a checkpoint, and waits; the data stays. Idempotent. */
  stop(): Promise<void>;
}

export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  await mkdir(options.dir, { recursive: true });
  const dir = await realpath(options.dir);
  const data = join(dir, "data");
  await waitForFormerServer(data, options.formerTimeoutMs ?? 10_000);
  const account = await postgresAccount(data);
  const binaries = await postgresBinaries(account !== undefined);
  const { database = "millrace", durable = true } = options;
  const password = await ensureCluster({ dir, database, binaries, account, durable });

  const log = join(dir, "server.log");
  const port = options.port ?? (await freePort());
  const settings = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    logging_collector: "off",
    ...(durable ? {} : { fsync: "off", full_page_writes: "off" }),
    ...options.settings,
  };
  const logFd = openSync(log, "a", 0o600);
  const server = spawnOnLeash({
    command: binaries.postgres,
    args: [
      "-D",
      HERE,
      "-p",
      String(port),
      ...Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${value}`]),
    ],
    stopSignal: "INT", // Fast shutdown: SIGTERM would wait for every session to leave.
    cwd: data,
    env: postgresEnv(),
    logFd,
    account: account && { uid: account.uid, gid: account.gid },
  });
  closeSync(logFd);
  const pid = await waitUntilReady(server, data, log, options.startTimeoutMs ?? 60_000);
  return {
    url: `postgres://${USER}:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`,
    port,
    pid,
    exited: server.exited,
    stop: async () => {
      server.release();
      await server.exited;
    },
  };
}

// Every Postgres process works in its data directory, so a live one is found by that, whatever a
// postmaster.pid of a machine that lost power says. One whose owner was killed is ending: give it time.
async function waitForFormerServer(data: string, timeoutMs: number): Promise<void> {
  if (process.platform !== "linux") return; // Elsewhere Postgres' own check of postmaster.pid must do.
  const deadline = Date.now() + timeoutMs;
  for (let pids = await processesIn(data); pids.length > 0; pids = await processesIn(data)) {
    if (Date.now() > deadline) {
      throw new Error(
        `Postgres is already running on ${data} (process ${pids.join(", ")}): stop it, or use another directory`,
      );
    }
    await sleep(50);
  }
  await rm(join(data, "postmaster.pid"), { force: true });
}

async function processesIn(data: string): Promise<string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const cwds = await Promise.all(pids.map((pid) => readlink(`/proc/${pid}/cwd`).catch(() => "")));
  return pids.filter((_, index) => cwds[index] === data);
}

// postmaster.pid: the first line is the process id, the eighth says when connections are taken.
async function waitUntilReady(server: Leashed, data: string, log: string, timeoutMs: number): Promise<number> {
  const deadline = Date.now() + timeoutMs;
  while (server.running() && Date.now() < deadline) {
    const lines = (await readFile(join(data, "postmaster.pid"), "utf8").catch(() => "")).split("\n");
    if (lines[7]?.trim() === "ready") return Number(lines[0]);
    await sleep(15);
  }
  const what = server.running() ? `was not ready within ${timeoutMs} ms` : "ended while starting";
  server.release();
  await server.exited;
  const tail = (await readFile(log, "utf8").catch(() => "")).split("\n").slice(-15).join("\n");
  throw new Error(`Postgres ${what}. The end of ${log}:\n${tail}`);
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
