// A real Millrace process as a child, to be watched and killed. Owns what is left of it, too: the child has a
// session of its own, and everything it starts carries a mark, so that an orphan is found and named.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { waitUntil } from "../wait-until.ts";
import { MARK, descendants } from "./descendants.ts";
import { LineLog } from "./line-log.ts";

export interface ProcessOptions {
  /** Arguments of `millrace`, as in `["scheduler"]`. */
  readonly args: readonly string[];
  /** On top of our own environment; undefined takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** Another TypeScript entry than the CLI. */
  readonly entry?: string;
  /** Another checkout of this workspace, whose CLI is run. */
  readonly root?: string;
  /** How long what it started may outlive it: an orphan notices by its closed channel. @default 5000 */
  readonly orphanGraceMs?: number;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface MillraceProcess extends AsyncDisposable {
  readonly pid: number;
  /** All lines of stdout and stderr so far, in the order in which they came. */
  readonly lines: readonly string[];
  readonly exited: Promise<Exit>;
  /** Looks at the lines that were written already, too. Fails when the process ends without it. */
  waitForLine(pattern: RegExp, timeoutMs?: number): Promise<string>;
  /** Signals this process only, as an out-of-memory kill would; what it started has to notice. */
  kill(signal?: NodeJS.Signals): void;
  /** Kills it and waits until it and all it started are gone; fails, and kills them, when they stay. */
  dispose(): Promise<void>;
}

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

// Ends the child when this process is gone, killed included: its end of the pipe closes then. Node hands `--import` on
// to forks; those are not ours to end, and have to notice by themselves.
const LEASH = `data:text/javascript,${encodeURIComponent(`
  if (process.ppid === ${process.pid})
    process.stdin.on("close", () => process.kill(process.pid, "SIGKILL")).resume().unref();
`)}`;

export function spawnMillrace(options: ProcessOptions): MillraceProcess {
  const mark = randomUUID();
  const cli = join(options.root ?? ROOT, "packages/cli");
  const node = ["--import", LEASH, "--import", join(cli, "bin/register.mjs")];
  const child = spawn(process.execPath, [...node, options.entry ?? join(cli, "src/main.ts"), ...options.args], {
    cwd: options.cwd,
    // vitest's own variables would make the child believe that it is a test.
    env: {
      ...process.env,
      VITEST: undefined,
      NODE_ENV: undefined,
      NODE_OPTIONS: undefined,
      ...options.env,
      [MARK]: mark,
    },
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  const log = new LineLog(`millrace ${options.args.join(" ")}`);
  log.read(child.stdout);
  log.read(child.stderr);
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once("error", reject);
    // "close" comes after the last output, which a failed test wants to see.
    child.once("exit", (code, signal) => resolve({ code, signal }));
    child.once("close", () => log.end());
  });
  exited.catch(() => log.end());
  child.stdin.on("error", () => undefined);
  const { pid } = child;
  if (pid === undefined) throw new Error(`Could not start ${process.execPath}`);

  const dispose = async (): Promise<void> => {
    child.kill("SIGKILL");
    await exited;
    const survivors = (): Promise<number[]> => descendants(pid, mark);
    await waitUntil(async () => (await survivors()).length === 0, {
      what: `all that \`millrace ${options.args.join(" ")}\` started is gone`,
      timeoutMs: options.orphanGraceMs ?? 5_000,
    }).catch(async (error: unknown) => {
      const left = await survivors();
      for (const orphan of left) tryKill(orphan);
      throw new Error(`${String(error)} (left: ${left.join(", ")})\n${log.tail()}`);
    });
    // Only now: an orphan that shares our pipes would keep them open.
    child.stdout.destroy();
    child.stderr.destroy();
  };
  return {
    pid,
    lines: log.lines,
    exited,
    waitForLine: (pattern, timeoutMs = 20_000) => log.waitFor(pattern, timeoutMs),
    kill: (signal = "SIGKILL") => void child.kill(signal),
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It went by itself meanwhile.
  }
}
