import type { Colors, Io } from "../io/io.ts";

const PAINT: Readonly<Record<string, keyof Colors>> = {
  success: "green",
  failed: "red",
  upstream_failed: "red",
  running: "cyan",
  queued: "blue",
  scheduled: "blue",
  up_for_retry: "yellow",
  up_for_reschedule: "yellow",
  deferred: "magenta",
  skipped: "dim",
  removed: "dim",
  none: "dim",
};

export function paintState(io: Io, state: string): string {
  const paint = io.colors[PAINT[state.trim()] ?? "reset"];
  return typeof paint === "function" ? paint(state) : state;
}
