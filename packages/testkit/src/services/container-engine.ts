// Real servers from containers, when an engine answers at once; the usual case on a developer's machine.
import { existsSync } from "node:fs";
import { request } from "node:http";
import { homedir } from "node:os";
import { join } from "node:path";
import type * as Testcontainers from "testcontainers";
import type { StartedService } from "./started-service.ts";

const POSTGRES_IMAGE = "postgres:17-alpine";
const REDIS_IMAGE = "redis:7-alpine";
const PROBE_TIMEOUT_MS = 1_000;
const PULL_TIMEOUT_MS = 90_000;

let answered: Promise<boolean> | undefined;

/** Asks once per process; a machine without an engine must not pay for testcontainers' own search. */
export function containerEngineAnswers(): Promise<boolean> {
  answered ??= ping();
  return answered;
}

function ping(): Promise<boolean> {
  const host = process.env["DOCKER_HOST"];
  const tcp = host === undefined || host.startsWith("unix://") ? undefined : new URL(host.replace(/^tcp:/, "http:"));
  const socketPath = host?.startsWith("unix://")
    ? host.slice("unix://".length)
    : ["/var/run/docker.sock", join(homedir(), ".docker/run/docker.sock")].find((path) => existsSync(path));
  if (tcp === undefined && socketPath === undefined) return Promise.resolve(false);
  return new Promise((resolve) => {
    const probe = request(
      {
        path: "/_ping",
        timeout: PROBE_TIMEOUT_MS,
        ...(tcp ? { host: tcp.hostname, port: tcp.port || 2375 } : { socketPath }),
      },
      (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      },
    );
    probe.once("timeout", () => probe.destroy(new Error("no answer")));
    probe.once("error", () => resolve(false));
    probe.end();
  });
}

export async function postgresContainer(settings: readonly string[]): Promise<StartedService> {
  const { GenericContainer, Wait } = await withImage(POSTGRES_IMAGE);
  const container = await new GenericContainer(POSTGRES_IMAGE)
    .withEnvironment({ POSTGRES_USER: "millrace", POSTGRES_PASSWORD: "millrace", POSTGRES_DB: "millrace" })
    .withCommand(["postgres", ...settings])
    .withExposedPorts(5432)
    // The image starts its server twice: the first one only runs the init scripts.
    .withWaitStrategy(Wait.forAll([Wait.forLogMessage(/ready to accept connections/, 2), Wait.forListeningPorts()]))
    .start();
  return started(container, `postgres://millrace:millrace@${address(container, 5432)}/millrace`);
}

export async function redisContainer(flags: readonly string[]): Promise<StartedService> {
  const { GenericContainer, Wait } = await withImage(REDIS_IMAGE);
  const container = await new GenericContainer(REDIS_IMAGE)
    .withCommand(["redis-server", ...flags])
    .withExposedPorts(6379)
    .withWaitStrategy(Wait.forLogMessage(/Ready to accept connections/))
    .start();
  return started(container, `redis://${address(container, 6379)}`);
}

function started(container: Testcontainers.StartedTestContainer, url: string): StartedService {
  return { url, from: "container", stop: async () => void (await container.stop({ timeout: 0 })) };
}

function address(container: Testcontainers.StartedTestContainer, port: number): string {
  return `${container.getHost()}:${container.getMappedPort(port)}`;
}

// Pulled before the start, which has no limit of its own: a machine without a registry must go on.
async function withImage(name: string): Promise<typeof Testcontainers> {
  const testcontainers = await import("testcontainers");
  const client = await testcontainers.getContainerRuntimeClient();
  const image = testcontainers.ImageName.fromString(name);
  if (await client.image.exists(image)) return testcontainers;
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${name} was not pulled within ${PULL_TIMEOUT_MS} ms`)), PULL_TIMEOUT_MS);
  });
  await Promise.race([client.image.pull(image), tooLong]).finally(() => clearTimeout(timer));
  return testcontainers;
}
