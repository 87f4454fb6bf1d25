// One child process from its start to its end: a group of its own, none of Millrace's environment, bounded output,
// time and memory. Resolves when nothing of the group is left.
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { childEnvironment } from "@millrace/shared/config";
import type { ChildReport } from "./child-report.ts";

export interface ParseLimits {
  readonly timeoutMs: number;
  /** Heap of the child, in MiB. */
  readonly memoryMb: number;
  /** Ends the child at once. */
  readonly signal?: AbortSignal;
}

export interface ChildEnd {
  readonly report: ChildReport | undefined;
  /** Why it was killed before it had reported; undefined when it ended by itself. */
  readonly killedFor: "time" | "memory" | "stop" | undefined;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The first and the last of what it wrote. */
  readonly output: string;
}

const KEPT_OUTPUT = 8_192;
/** Node itself, and buffers, which its heap limit does not count. */
const MEMORY_BEYOND_HEAP_MB = 256;
const MEMORY_LOOK_MS = 200;
const PASSED_ON = new Set(["PATH", "HOME", "TZ", "LANG", "NODE_ENV", "NODE_PATH", "SystemRoot"]);

export async function runChild(args: readonly string[], cwd: string, limits: ParseLimits): Promise<ChildEnd> {
  const env = Object.fromEntries(Object.entries(childEnvironment()).filter(([name]) => PASSED_ON.has(name)));
  const child = spawn(process.execPath, [`--max-old-space-size=${limits.memoryMb}`, ...args], {
    cwd,
    env,
    stdio: ["ignore", "pipe", "pipe", "ipc"],
    detached: true,
  });
  const output = new Output();
  const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
  for (const stream of streams) stream.on("data", (chunk: Buffer) => output.add(chunk));

  let report: ChildReport | undefined;
  let killedFor: ChildEnd["killedFor"];
  const killGroup = (why?: ChildEnd["killedFor"]): void => {
    if (report === undefined) killedFor ??= why;
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // The whole group is gone already.
    }
  };
  child.on("message", (message) => {
    report ??= message as ChildReport;
    killGroup();
  });
  const stop = () => killGroup("stop");
  limits.signal?.addEventListener("abort", stop);
  if (limits.signal?.aborted === true) stop();
  const timer = setTimeout(() => killGroup("time"), limits.timeoutMs);
  const memory = setInterval(() => {
    void residentMb(child.pid).then((used) => {
      if (used > limits.memoryMb + MEMORY_BEYOND_HEAP_MB) killGroup("memory");
    });
  }, MEMORY_LOOK_MS);
  const disconnected = new Promise((resolve) => child.once("disconnect", resolve));
  const closed = new Promise((resolve) => child.once("close", resolve));
  try {
    const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
      child.once("error", reject);
      child.once("exit", (...end) => resolve(end));
    });
    // What the code itself started, and what still holds our pipes if it left the group.
    killGroup();
    await Promise.race([
      Promise.all([disconnected, closed]),
      new Promise((resolve) => setTimeout(resolve, 1_000).unref()),
    ]);
    return { report, killedFor, code, signal, output: output.text() };
  } finally {
    clearTimeout(timer);
    clearInterval(memory);
    limits.signal?.removeEventListener("abort", stop);
    for (const stream of streams) stream.destroy();
  }
}

/** 0 where the system does not say; there only the heap is bounded. */
async function residentMb(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid ?? 0}/status`, "utf8").catch(() => "");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) / 1024;
}

/** Keeps both ends of a flood. */
class Output {
  #head = "";
  #tail = "";
  #cut = false;

  add(chunk: Buffer): void {
    this.#tail += chunk.toString();
    const room = KEPT_OUTPUT - this.#head.length;
    this.#head += this.#tail.slice(0, room);
    this.#tail = this.#tail.slice(Math.max(0, room));
    if (this.#tail.length > KEPT_OUTPUT) {
      this.#tail = this.#tail.slice(-KEPT_OUTPUT);
      this.#cut = true;
    }
  }

  text(): string {
    return this.#head + (this.#cut ? "\n[…]\n" : "") + this.#tail;
  }
}
