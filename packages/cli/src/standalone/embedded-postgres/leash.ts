// Starts a server that must not outlive us, not even when we are killed with SIGKILL. A small shell holds
// our end of a pipe: when the pipe closes (we closed it, or we are gone) it signals the server and waits.
import { type ChildProcess, spawn } from "node:child_process";

export interface LeashOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** The signal that makes the server stop cleanly. */
  readonly stopSignal: "INT" | "TERM";
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** An open file that takes stdout and stderr; a pipe would break when we die first. */
  readonly logFd: number;
  readonly account?: { readonly uid: number; readonly gid: number } | undefined;
}

export interface Leashed {
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Lets go: the server gets its stop signal. Idempotent; await `exited` for the end. */
  release(): void;
  readonly running: () => boolean;
}

// The watcher is killed once the server has ended by itself, so that it can never signal a reused pid.
const LEASH = `
sig=$1; shift
exec 3<&0
"$@" </dev/null 3<&- & server=$!
( cat <&3 >/dev/null; kill -s "$sig" "$server" ) 2>/dev/null & watcher=$!
exec 3<&-
wait "$server"; code=$?
kill "$watcher" 2>/dev/null
exit "$code"
`;

export function spawnOnLeash(options: LeashOptions): Leashed {
  const child: ChildProcess = spawn(
    "/bin/sh",
    ["-c", LEASH, "leash", options.stopSignal, options.command, ...options.args],
    {
      cwd: options.cwd,
      env: options.env,
      stdio: ["pipe", options.logFd, options.logFd],
      // A session of its own: Ctrl-C in the terminal must reach us only, the server is stopped last.
      detached: true,
      ...options.account,
    },
  );
  const stdin = child.stdin;
  stdin?.on("error", () => undefined); // The server ended first: nothing to hold any more.
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      stdin?.destroy();
      resolve({ code, signal });
    });
  });
  exited.catch(() => undefined); // Whoever awaits it sees the failure; nobody waiting is no crash.
  return {
    exited,
    release: () => stdin?.end(),
    running: () => child.exitCode === null && child.signalCode === null,
  };
}
