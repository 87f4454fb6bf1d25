import { containerEngineAnswers, redisContainer } from "./container-engine.ts";
import { debianRedis } from "./debian-package.ts";
import { redisOnPath, startRedisServer, type RedisBinary } from "./redis-server.ts";
import { type ServiceOptions, type StartedService, fromEnvironment } from "./started-service.ts";

const ADVICE =
  "Tests need a real Redis. Give REDIS_URL, start a container engine, or install redis-server or valkey-server " +
  "(Debian, Ubuntu: apt install redis-server; macOS: brew install redis).";

/** `REDIS_URL`, else a container, else a server on PATH, else the distribution's package in a cache folder. */
export async function startRedis(options: ServiceOptions): Promise<StartedService> {
  const given = fromEnvironment("REDIS_URL");
  if (given !== undefined) return given;
  const flags = redisFlags(options.durable);
  if (await containerEngineAnswers()) {
    try {
      return await redisContainer(flags);
    } catch (error) {
      options.say(`no Redis container (${String(error)}), looking for a local server`);
    }
  }
  const binary = await redisBinary(options.say);
  return { ...(await startRedisServer(binary, flags, options.dir)), from: binary.from };
}

/** A server on PATH, else the distribution's package in a cache folder. */
export async function redisBinary(
  say: (line: string) => void,
): Promise<RedisBinary & { readonly from: "PATH" | "distribution package" }> {
  const onPath = redisOnPath();
  if (onPath !== undefined) return { ...onPath, from: "PATH" };
  const unpacked = await debianRedis(say).catch((cause: unknown) => {
    throw new Error(`${ADVICE} The distribution's package could not be had: ${String(cause)}`, { cause });
  });
  if (unpacked === undefined) throw new Error(ADVICE);
  return { ...unpacked, from: "distribution package" };
}

function redisFlags(durable: boolean): string[] {
  const persistence = durable ? ["--appendonly", "yes", "--appendfsync", "everysec"] : ["--appendonly", "no"];
  // One database per test file; and no eviction, since BullMQ loses jobs with it.
  return ["--databases", "1024", "--maxmemory-policy", "noeviction", "--save", "", ...persistence];
}
