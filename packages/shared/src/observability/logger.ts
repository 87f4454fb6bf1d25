import { pino, symbols, type Logger } from "pino";
import { RedactingStream } from "./redacting-stream.ts";

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
    new RedactingStream(options.destination ?? pino.destination({ dest: 2, sync: true })),
  );
}

/** From now on nothing that this redactor hides stands in a line of the logger, or of another that was made from it. */
export function hideIn(log: Logger, redactor: { redact(text: string): string }): void {
  const stream = (log as Logger & { readonly [symbols.streamSym]?: unknown })[symbols.streamSym]; // a field of every logger of pino
  if (stream instanceof RedactingStream) stream.hide(redactor);
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
