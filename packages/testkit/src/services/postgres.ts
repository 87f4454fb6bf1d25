import { join } from "node:path";
import { startEmbeddedPostgres } from "@millrace/cli/embedded-postgres";
import { containerEngineAnswers, postgresContainer } from "./container-engine.ts";
import { type ServiceOptions, type StartedService, fromEnvironment } from "./started-service.ts";

// Small caches and no background work: many short-lived databases on two cores.
const SETTINGS = {
  max_connections: 300,
  shared_buffers: "64MB",
  max_wal_size: "256MB",
  jit: "off",
  autovacuum_naptime: "10s",
};
const UNSAFE_SETTINGS = { fsync: "off", full_page_writes: "off" };

/** `DATABASE_URL`, else a container, else the embedded binaries, which need nothing of the machine. */
export async function startPostgres(
  options: ServiceOptions,
  more: Readonly<Record<string, string | number>> = {},
): Promise<StartedService> {
  const given = fromEnvironment("DATABASE_URL");
  if (given !== undefined) return given;
  const settings = { ...SETTINGS, ...(options.durable ? {} : UNSAFE_SETTINGS), ...more };
  if (await containerEngineAnswers()) {
    try {
      return await postgresContainer(Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${value}`]));
    } catch (error) {
      options.say(`no Postgres container (${String(error)}), using the embedded one`);
    }
  }
  const { durable } = options;
  const server = await startEmbeddedPostgres({ dir: join(options.dir, "postgres"), durable, settings });
  return { url: server.url, stop: () => server.stop(), from: "embedded" };
}
