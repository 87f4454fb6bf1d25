export { createTestDatabase, type TestDatabase } from "./database/test-database.ts";
export { fakeClock, type FakeClock } from "./fake-clock.ts";
export { testDatabase, testRedisUrl } from "./vitest-hooks.ts";
export { waitUntil, type WaitOptions } from "./wait-until.ts";
