// The one place where an error becomes a message and an exit code: 0 fine, 1 the request or what it asked for failed,
// 2 wrong usage or configuration, 3 something it needs is not reachable.
import { AppError } from "@millrace/shared/errors";
import { CommanderError } from "commander";
import type { Io } from "./io.ts";

/** A command that ends without success after it has said why by itself. */
export class Ended extends Error {
  override readonly name = "Ended";
  readonly exitCode: number;

  constructor(exitCode: number) {
    super(`ended with ${exitCode}`);
    this.exitCode = exitCode;
  }
}

/** Wrong use of a command that commander could not see. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export function reportError(io: Io, error: unknown): number {
  if (error instanceof Ended) return error.exitCode;
  // Commander has written its message or help already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof UsageError) return say(io, error.message, 2);
  if (error instanceof AppError) return say(io, error.message, error.exitCode);
  return say(io, error instanceof Error ? (error.stack ?? error.message) : String(error), 1);
}

function say(io: Io, message: string, exitCode: number): number {
  io.note(`${io.colors.red("error:")} ${message}`);
  return exitCode;
}
