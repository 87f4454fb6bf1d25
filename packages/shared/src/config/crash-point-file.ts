import type { Environment } from "./load-config.ts";

/** The switch of the fault suite, see lifecycle/crash-point.ts. Not an option: it has no use outside of tests. */
export const crashPointFile = (env: Environment = process.env): string | undefined => env["MILLRACE_TEST_CRASH_POINTS"];
