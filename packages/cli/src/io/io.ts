// The outside of a command: where its answer and its notes go. Handed to every command, so that tests run one in process.
import type { Environment } from "@millrace/shared/config";
import pc from "picocolors";

export interface Io {
  /** What was asked for, for people or programs: standard output. */
  readonly out: (text: string) => void;
  /** Everything else that is said, a line at a time: standard error. */
  readonly note: (line: string) => void;
  /** Standard error without a line end, for what is drawn over. */
  readonly write: (text: string) => void;
  /** Whether standard output is a terminal, which may be drawn over. */
  readonly isTty: boolean;
  readonly isErrorTty: boolean;
  readonly columns: () => number;
  /** Asks the person at the terminal; without one there is nobody to ask. */
  readonly ask?: (question: string) => Promise<string>;
  readonly colors: Colors;
  /** Hides secrets in what users wrote, before it is laid out: set where that is shown, see `withMasked`. */
  readonly mask?: Mask;
  /** Default: the process's. */
  readonly env?: Environment;
  /** Default: the process's. */
  readonly cwd: string;
}

/** JSON, or a text; anything else stays as it is. */
export type Mask = (value: unknown) => unknown;

export type Colors = ReturnType<typeof pc.createColors>;

export function processIo(): Io {
  const isTty = process.stdout.isTTY === true;
  return {
    out: (text) => void process.stdout.write(text),
    note: (line) => void process.stderr.write(`${line}\n`),
    write: (text) => void process.stderr.write(text),
    isTty,
    isErrorTty: process.stderr.isTTY === true,
    columns: () => process.stdout.columns ?? 100,
    ...(process.stdin.isTTY === true && process.stderr.isTTY === true ? { ask } : {}),
    colors: isTty ? pc.createColors() : pc.createColors(false),
    cwd: process.cwd(),
  };
}

async function ask(question: string): Promise<string> {
  const { createInterface } = await import("node:readline/promises");
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await terminal.question(question);
  } finally {
    terminal.close();
  }
}
