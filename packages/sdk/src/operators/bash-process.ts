// One process of bash, or of another program, with everything that it starts. It leads a process group of its own, so that stopping the attempt
// also stops the children of the script, and none of them is left behind when the attempt is over.
import { spawn } from "node:child_process";
import { LineSplitter } from "./line-splitter.ts";

/** How long a script may clean up between SIGTERM and SIGKILL. */
const GRACE_MS = 5000;
/** After what time it is told that the program has ended and that something which it left holds its output. */
const LEFT_MS = 5000;
/** How long to wait for output of a process that left the group and still holds a pipe. */
const PIPE_MS = 1000;

export interface BashRun extends Omit<ProcessRun, "file" | "args"> {
  readonly command: string;
}

export interface ProcessRun {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly encoding: string;
  readonly signal: AbortSignal;
  readonly onLine: (stream: "stdout" | "stderr", line: string) => void;
  readonly onGroup?: (pid: number, state: "started" | "ended") => void;
  /** The program has ended, and what it left running in the background still holds its output, which is waited for. */
  readonly onLeft?: () => void;
  /** @default 5000 */
  readonly leftMs?: number;
  /** @default 5000 */
  readonly graceMs?: number;
}

export interface BashExit {
  /** null when a signal ended it. */
  readonly code: number | null;
  readonly killedBy: string | null;
  readonly lastLine: string;
}

/** Runs `bash -c command` to its end. Rejects when bash cannot be started. */
export function runBash({ command, ...run }: BashRun): Promise<BashExit> {
  return runProcess({ ...run, file: "bash", args: ["-c", command] });
}

/** Runs a program to its end. Rejects when it cannot be started. */
export function runProcess(run: ProcessRun): Promise<BashExit> {
  return new Promise((resolve, reject) => {
    const child = spawn(run.file, run.args, {
      cwd: run.cwd,
      env: run.env,
      detached: true, // a group of its own
      stdio: ["ignore", "pipe", "pipe"],
    });
    const stdout = new LineSplitter(run.encoding, (line) => run.onLine("stdout", line));
    const stderr = new LineSplitter(run.encoding, (line) => run.onLine("stderr", line));
    child.stdout.on("data", (chunk: Buffer) => stdout.write(chunk));
    child.stderr.on("data", (chunk: Buffer) => stderr.write(chunk));

    const { pid } = child;
    const timers: NodeJS.Timeout[] = [];
    const stop = (): void => {
      if (pid === undefined) return;
      signalGroup(pid, "SIGTERM");
      const kill = (): void => {
        signalGroup(pid, "SIGKILL");
        timers.push(setTimeout(() => (child.stdout.destroy(), child.stderr.destroy()), PIPE_MS));
      };
      timers.push(setTimeout(kill, run.graceMs ?? GRACE_MS));
    };
    const release = (): void => {
      run.signal.removeEventListener("abort", stop);
      for (const timer of timers) clearTimeout(timer);
      if (pid !== undefined && groups.delete(pid)) run.onGroup?.(pid, "ended");
    };
    if (pid !== undefined) {
      track(pid);
      run.onGroup?.(pid, "started");
    }
    run.signal.addEventListener("abort", stop, { once: true });

    child.on("error", (error) => {
      release();
      reject(new Error(`${run.file} could not be started: ${error.message}`, { cause: error }));
    });
    child.on("exit", () => timers.push(setTimeout(() => run.onLeft?.(), run.leftMs ?? LEFT_MS)));
    // `close` and not `exit`: the last lines may still be in the pipe, and children of the script may still write.
    child.on("close", (code, killedBy) => {
      // What is still in the group has no pipe to us and would outlive its attempt. `setsid` is the way out.
      if (pid !== undefined) signalGroup(pid, "SIGKILL");
      release();
      stdout.end();
      stderr.end();
      resolve({ code, killedBy, lastLine: stdout.lastLine });
    });
  });
}

const groups = new Set<number>();

/** A process that exits takes its scripts with it: nobody else knows them. */
function track(pid: number): void {
  if (groups.size === 0) {
    process.removeListener("exit", killAll);
    process.on("exit", killAll);
  }
  groups.add(pid);
}

function killAll(): void {
  for (const pid of groups) signalGroup(pid, "SIGKILL");
}

function signalGroup(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is gone already, which is what was wanted.
  }
}
