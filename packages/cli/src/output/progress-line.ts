// One line about a long computation, drawn over on a terminal and gone when it is over. Elsewhere nothing is written.
import type { Io } from "../io/io.ts";

export interface ProgressLine {
  /** At most ten times a second, and not before it has taken a moment. */
  show(text: string): void;
  end(): void;
}

const BETWEEN_MS = 100;
const QUIET_MS = 300;

export function createProgressLine(io: Io, clock: () => number = () => performance.now()): ProgressLine {
  if (!io.isErrorTty) return { show: () => undefined, end: () => undefined };
  let nextAt = clock() + QUIET_MS;
  let isShown = false;
  return {
    show(text) {
      if (clock() < nextAt) return;
      nextAt = clock() + BETWEEN_MS;
      isShown = true;
      io.write(`\r\x1b[2K${text.slice(0, Math.max(0, io.columns() - 1))}`);
    },
    end() {
      if (isShown) io.write("\r\x1b[2K");
      isShown = false;
    },
  };
}
