// Postgres and Redis for one test run: where each comes from is decided apart.
import { mkdtemp, readdir, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "./postgres.ts";
import { startRedis } from "./redis.ts";
import type { StartedService } from "./started-service.ts";

export interface Services {
  readonly postgresUrl: string;
  readonly redisUrl: string;
  stop(): Promise<void>;
}

export interface StartServicesOptions {
  /** Whether commits reach the disk, as in production; for bench and chaos. @default false */
  readonly durable?: boolean;
  /** More settings of Postgres, as in postgresql.conf. */
  readonly postgres?: Readonly<Record<string, string | number>>;
  /** Takes one line per event. @default writes to stderr */
  readonly say?: (line: string) => void;
}

const FOLDER = "millrace-test-";
// A clone is 300 new files: 50 ms in memory, 200 to 500 ms on a busy disk.
const MEMORY = "/dev/shm";
const ROOM_NEEDED_BYTES = 2 * 1024 ** 3;

export async function startServices(options: StartServicesOptions = {}): Promise<Services> {
  const say = options.say ?? ((line: string) => void process.stderr.write(`testkit: ${line}\n`));
  const durable = options.durable ?? false;
  for (const root of [tmpdir(), MEMORY]) await removeFoldersOfKilledRuns(root);
  const root = !durable && (await hasRoomInMemory()) ? MEMORY : tmpdir();
  const dir = await mkdtemp(join(root, `${FOLDER}${process.pid}-`));
  const plan = { dir, durable, say };
  const [postgres, redis] = await Promise.allSettled([
    timed(startPostgres(plan, options.postgres)),
    timed(startRedis(plan)),
  ]);

  const stop = async (): Promise<void> => {
    const started = [postgres, redis].flatMap((result) =>
      result.status === "fulfilled" ? [result.value.service] : [],
    );
    await Promise.all(started.map((service) => service.stop()));
    await rm(dir, { recursive: true, force: true });
  };
  if (postgres.status === "rejected" || redis.status === "rejected") {
    await stop();
    throw postgres.status === "rejected" ? postgres.reason : (redis as PromiseRejectedResult).reason;
  }
  say(`Postgres: ${describe(postgres.value)}; Redis: ${describe(redis.value)}`);
  return { postgresUrl: postgres.value.service.url, redisUrl: redis.value.service.url, stop };
}

interface Timed {
  readonly service: StartedService;
  readonly ms: number;
}

async function timed(starting: Promise<StartedService>): Promise<Timed> {
  const begin = performance.now();
  const service = await starting;
  return { service, ms: performance.now() - begin };
}

function describe({ service, ms }: Timed): string {
  return `${service.from} (${(ms / 1000).toFixed(1)} s)`;
}

// Containers usually have 64 MB there.
async function hasRoomInMemory(): Promise<boolean> {
  const found = await statfs(MEMORY).catch(() => undefined);
  return found !== undefined && found.bavail * found.bsize >= ROOM_NEEDED_BYTES;
}

// The servers of a killed run end by themselves, but nobody is left to remove their files.
async function removeFoldersOfKilledRuns(root: string): Promise<void> {
  for (const name of await readdir(root).catch(() => [])) {
    const pid = name.startsWith(FOLDER) ? Number(name.slice(FOLDER.length).split("-")[0]) : 0;
    if (pid > 0 && !isAlive(pid)) await rm(join(root, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process is alive, too.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
