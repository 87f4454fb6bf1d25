// What the global setup hands to the test files and to every process they start: by environment, since a
// child process of a child process must find it, too.

export interface RunContext {
  readonly postgresUrl: string;
  readonly redisUrl: string;
  /** The migrated database that test databases are cloned from. */
  readonly template: string;
}

const VARIABLE = "MILLRACE_TESTKIT_RUN";

export function publishRunContext(context: RunContext): void {
  process.env[VARIABLE] = JSON.stringify(context);
}

export function runContext(): RunContext {
  const text = process.env[VARIABLE];
  if (text === undefined) {
    throw new Error(
      "No test services: this file is in the vitest project `unit`, which starts none. " +
        "Name it so that it belongs to `integration` (see vitest.config.ts).",
    );
  }
  // Written by publishRunContext only.
  return JSON.parse(text) as RunContext;
}
