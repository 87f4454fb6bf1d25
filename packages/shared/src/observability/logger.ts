import { pino, type Logger } from "pino";

export type { Logger } from "pino";

export interface LoggerOptions {
  /** `debug`, `info`, `warn`, `error` or `silent`. */
  readonly level: string;
  /** Which process speaks: `scheduler`, `worker`, … */
  readonly name: string;
  /** Where lines go. Default: standard error, so that a command's output stays its own. */
  readonly destination?: { write(line: string): void };
}

/** JSON lines. Values under keys that name a secret are never written. */
export function createLogger(options: LoggerOptions): Logger {
  return pino(
    {
      level: options.level,
      base: { process: options.name },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: ["password", "token", "*.password", "*.token", "url", "*.url"], censor: "***" },
    },
    options.destination ?? pino.destination({ dest: 2, sync: true }),
  );
}

/** A connection address without its password, for messages and logs. */
export function withoutPassword(address: string): string {
  try {
    const url = new URL(address);
    if (url.password !== "") url.password = "***";
    return url.toString();
  } catch {
    return "(unreadable address)";
  }
}
