export { createTestDatabase, type TestDatabase } from "./database/test-database.ts";
export { fakeClock, type FakeClock } from "./fake-clock.ts";
export type { Exit, MillraceProcess, ProcessOptions } from "./process/millrace-process.ts";
export { startProcess, testDatabase, testRedisUrl } from "./vitest-hooks.ts";
export { startObjectStore, type ObjectStore, type StoreFault } from "./object-store.ts";
export { openRedis } from "./open-redis.ts";
export { openProxy, openProxyTo, type TcpProxy } from "./tcp-proxy.ts";
export { waitUntil, type WaitOptions } from "./wait-until.ts";
