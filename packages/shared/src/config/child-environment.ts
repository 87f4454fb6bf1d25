import type { Environment } from "./load-config.ts";

const OURS = /^(MILLRACE_|DATABASE_URL$|REDIS_URL$|PG[A-Z]+$|AIRFLOW__|NODE_OPTIONS$)/;

/** What processes that run user code inherit: everything but the ways into Millrace's own services. */
export function childEnvironment(env: Environment = process.env): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined && !OURS.test(entry[0])),
  );
}
