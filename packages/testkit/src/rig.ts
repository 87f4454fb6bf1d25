// What programs outside of vitest need to run and break Millrace and its servers: processes, and servers whose death is
// part of the plan.
export { startEmbeddedPostgres, type EmbeddedPostgres } from "@millrace/cli/embedded-postgres";
export { linkPackages } from "./link-packages.ts";
export { spawnMillrace, type Exit, type MillraceProcess } from "./process/millrace-process.ts";
export { redisBinary } from "./services/redis.ts";
export { startRedisServer, type RedisBinary } from "./services/redis-server.ts";
export { waitUntil } from "./wait-until.ts";
