// A Postgres (commits reach the disk) and a Redis (nothing persists) of the suite's own, which it kills, freezes and
// starts again. Links ask for the address each time: a server that comes back may have another port.
import { copyFile, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  redisBinary,
  startEmbeddedPostgres,
  startRedisServer,
  waitUntil,
  type EmbeddedPostgres,
  type RedisBinary,
} from "@millrace/testkit/rig";
import { Redis } from "ioredis";
import pg from "pg";

export interface Address {
  readonly host: string;
  readonly port: number;
}

const SETTINGS = {
  // What the fleet may hold, and few more.
  max_connections: 110,
  shared_buffers: "64MB",
  max_wal_size: "256MB",
  jit: "off",
  // The checker orders what happened by its commits.
  track_commit_timestamp: "on",
  restart_after_crash: "on",
  deadlock_timeout: "200ms",
};
const REDIS_FLAGS = ["--maxmemory-policy", "noeviction", "--save", "", "--appendonly", "no"];

export class Servers {
  readonly #dir: string;
  readonly #binary: RedisBinary;
  #postgres: EmbeddedPostgres;
  #redis: { readonly url: string; readonly pid: number; stop(): Promise<void> };
  #redisStarts = 0;

  private constructor(dir: string, binary: RedisBinary, postgres: EmbeddedPostgres, redis: Servers["redis"]) {
    this.#dir = dir;
    this.#binary = binary;
    this.#postgres = postgres;
    this.#redis = redis;
  }

  static async start(dir: string): Promise<Servers> {
    const binary = await redisBinary((line) => console.error(line));
    const postgres = await startEmbeddedPostgres({ dir: join(dir, "postgres"), durable: true, settings: SETTINGS });
    return new Servers(dir, binary, postgres, await startRedis(binary, join(dir, "redis-0")));
  }

  get redis() {
    return this.#redis;
  }

  get postgresUrl(): string {
    return this.#postgres.url;
  }

  readonly postgresAddress = (): Address => addressOf(this.#postgres.url);
  readonly redisAddress = (): Address => addressOf(this.#redis.url);

  /** A session of the suite's own, not through any link. */
  async client(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.postgresUrl, application_name: "chaos" });
    client.on("error", () => undefined);
    await client.connect();
    return client;
  }

  async query<R extends pg.QueryResultRow>(sql: string, params: readonly unknown[] = []): Promise<R[]> {
    const client = await this.client();
    try {
      return (await client.query<R>(sql, [...params])).rows;
    } finally {
      await client.end();
    }
  }

  /** Ends the server as a crash does, and starts it on what reached the disk. Resolves when it takes connections. */
  async restartPostgres(signal: "SIGQUIT" | "SIGKILL", downMs: number): Promise<void> {
    const { port, pid, exited } = this.#postgres;
    process.kill(pid, signal);
    await exited;
    await new Promise((resolve) => setTimeout(resolve, downMs));
    this.#postgres = await startEmbeddedPostgres({
      dir: join(this.#dir, "postgres"),
      port,
      durable: true,
      settings: SETTINGS,
      formerTimeoutMs: 20_000,
    });
  }

  /** @param copy what it begins with; without one it is empty */
  async restartRedis(downMs: number, copy?: string): Promise<void> {
    const { pid, stop } = this.#redis;
    process.kill(pid, "SIGKILL");
    await stop();
    await new Promise((resolve) => setTimeout(resolve, downMs));
    const dir = join(this.#dir, `redis-${++this.#redisStarts}`);
    if (copy !== undefined) {
      const data = join(dir, "redis");
      await mkdir(data, { recursive: true });
      await copyFile(copy, join(data, "dump.rdb"));
    }
    this.#redis = await startRedis(this.#binary, dir);
  }

  /** What Redis holds now, as a file to start another from. */
  async copyRedis(): Promise<string> {
    const copy = join(this.#dir, `redis-${this.#redisStarts}-${Date.now()}.rdb`);
    const folder = await this.redisCommand(async (redis) => {
      await redis.save();
      return (await redis.config("GET", "dir"))[1] ?? "";
    });
    await copyFile(join(folder, "dump.rdb"), copy);
    return copy;
  }

  async redisCommand<T>(run: (redis: Redis) => Promise<T>): Promise<T> {
    const redis = new Redis(this.#redis.url, { maxRetriesPerRequest: 1 });
    redis.on("error", () => undefined);
    try {
      return await run(redis);
    } finally {
      redis.disconnect();
    }
  }

  async stop(): Promise<void> {
    await Promise.all([this.#postgres.stop(), this.#redis.stop()]);
  }

  async postgresLog(): Promise<string> {
    return await readFile(join(this.#dir, "postgres", "server.log"), "utf8").catch(() => "");
  }
}

async function startRedis(binary: RedisBinary, dir: string) {
  const started = await startRedisServer(binary, REDIS_FLAGS, dir);
  const redis = new Redis(started.url);
  try {
    const info = await waitUntil(() => redis.info("server"), { what: "redis tells its process" });
    return { url: started.url, pid: Number(/process_id:(\d+)/.exec(info)?.[1]), stop: () => started.stop() };
  } finally {
    redis.disconnect();
  }
}

function addressOf(url: string): Address {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}
