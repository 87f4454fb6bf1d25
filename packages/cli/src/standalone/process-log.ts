// Where the services of a standalone write: all of it as JSON lines into a file, warnings and worse also to the person
// at the terminal, in words.
import { closeSync, openSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Io } from "../io/io.ts";

export interface ProcessLog {
  readonly path: string;
  readonly write: (line: string) => void;
  /** From here on only errors are told: while everything ends, lost connections are no news. */
  readonly tellOnlyErrors: () => void;
  readonly close: () => void;
}

const WARNINGS = new Set(["warn", "error", "fatal"]);
const ERRORS = new Set(["error", "fatal"]);

export function openProcessLog(io: Pick<Io, "colors">, dir: string, tell: (line: string) => void): ProcessLog {
  const path = join(dir, "millrace.log");
  try {
    // The log of the last start is kept; those before it are not.
    renameSync(path, `${path}.1`);
  } catch {
    // The first start.
  }
  const file = openSync(path, "a", 0o600);
  let isOpen = true;
  let shown = WARNINGS;
  return {
    path,
    write: (line) => {
      if (isOpen) writeSync(file, line);
      const words = inWords(io, line, shown);
      if (words !== undefined) tell(words);
    },
    tellOnlyErrors: () => {
      shown = ERRORS;
    },
    close: () => {
      isOpen = false;
      closeSync(file);
    },
  };
}

function inWords(io: Pick<Io, "colors">, line: string, shown: ReadonlySet<string>): string | undefined {
  try {
    const { level, process, msg, time: _time, ...rest } = JSON.parse(line) as Record<string, unknown>;
    if (!shown.has(String(level))) return undefined;
    const paint = level === "warn" ? io.colors.yellow : io.colors.red;
    const details = Object.entries(rest).map(
      ([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`,
    );
    return `${paint(String(level))} ${String(process)}: ${String(msg)} ${io.colors.dim(details.join(" "))}`.trimEnd();
  } catch {
    return undefined;
  }
}
