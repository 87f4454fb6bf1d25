import type { LogLine } from "../types/index.ts";

/** What is not a line of ours is shown as it stands. */
export function parseLine(line: string): LogLine {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === "object" && value !== null && !Array.isArray(value) && "event" in value) {
      return { ...value, event: typeof value.event === "string" ? value.event : JSON.stringify(value.event) };
    }
  } catch {
    // Not JSON: a process that died in the middle of a line, or a foreign file.
  }
  return { event: line };
}

/** For a terminal: `[2026-01-01T00:00:00.000Z] INFO - loaded`. */
export function formatLine({ timestamp, level, event }: LogLine): string {
  const time = timestamp === undefined ? "" : `[${timestamp}] `;
  return `${time}${level === undefined ? "" : `${level.toUpperCase()} - `}${event}\n`;
}
