// One child process: the triggers of one artifact, as long as it has any. It can always be ended, with all it started.
import { fork, type ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import { createInterface } from "node:readline";
import type { TriggerOutcome, TriggerRunRequest } from "@millrace/sdk/runtime";
import type { Json } from "@millrace/sdk/spec";
import { childEnvironment } from "@millrace/shared/config";
import { killTree } from "@millrace/shared/lifecycle";
import { NOBODY, NOTICES_FD, type Call, type FromChild, type LogLine, type Notice, type ToChild } from "./ipc.ts";

export interface TriggerProcessOptions {
  readonly program: string;
  readonly heapMb: number;
  readonly warnMs: number;
  readonly maxBlockMs: number;
  readonly onOutcome: (triggerId: number, outcome: TriggerOutcome) => void;
  readonly onLog: (line: LogLine) => void;
  readonly onMask: (secret: Json) => void;
  /** Answers what a trigger asks for; a rejection reaches it as an error with this message. */
  readonly onCall: (triggerId: number, call: Call) => Promise<Extract<ToChild, { type: "reply" }>["value"]>;
  readonly onSlow: (triggerId: number, ms: number) => void;
  /** Called once, when the process is gone. */
  readonly onEnd: (end: ProcessEnd) => void;
}

export interface ProcessEnd {
  /** As a sentence goes on after "the process". */
  readonly how: string;
  /** It blocked the process or ended it; NOBODY when that is not known. */
  readonly culprit: number;
  readonly name: "TriggerBlocked" | "TriggerExited" | "TriggerProcessDied";
}

export class TriggerProcess {
  readonly exited: Promise<void>;
  readonly #process: ChildProcess;
  readonly #options: TriggerProcessOptions;
  #end: ProcessEnd | undefined;
  #isGone = false;

  constructor(options: TriggerProcessOptions) {
    this.#options = options;
    this.#process = fork(options.program, [String(options.warnMs), String(options.maxBlockMs)], {
      env: childEnvironment(),
      execArgv: [`--max-old-space-size=${options.heapMb}`],
      stdio: ["ignore", "pipe", "pipe", "ipc", "pipe"],
      // A group of its own: Ctrl-C in a terminal asks the triggerer to stop and must not reach its children.
      detached: true,
    });
    this.exited = new Promise((resolve) => {
      const gone = (how: string) => {
        if (this.#isGone) return;
        this.#isGone = true;
        resolve();
        options.onEnd(this.#end ?? { how, culprit: NOBODY, name: "TriggerProcessDied" });
      };
      // "close" comes after the last notice, which names the culprit; a process that it started may keep a pipe open.
      this.#process.once("exit", (code, signal) => {
        const how = describeExit(code, signal);
        this.#process.once("close", () => gone(how));
        setTimeout(() => gone(how), 1_000).unref();
      });
      this.#process.once("error", (error) => gone(`could not be started: ${error.message}`));
    });
    this.#process.on("message", (message: FromChild) => this.#onMessage(message));
    // Written past the child's own stream objects: by native code or its own children.
    for (const [stream, logger, level] of [
      [this.#process.stdout, "task.stdout", "info"],
      [this.#process.stderr, "task.stderr", "error"],
    ] as const) {
      if (stream === null) continue;
      createInterface({ input: stream }).on("line", (message) =>
        options.onLog({ type: "log", triggerId: NOBODY, level, logger, message }),
      );
    }
    // The pipe that was asked for above.
    const notices = this.#process.stdio[NOTICES_FD] as Readable;
    createInterface({ input: notices }).on("line", (line) => this.#onNotice(JSON.parse(line) as Notice));
    notices.on("error", () => undefined);
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  start(artifactPath: string, request: TriggerRunRequest): void {
    this.#send({ type: "start", artifactPath, request });
  }

  /** Nobody waits for this trigger any more. */
  abort(triggerId: number, reason: string): void {
    this.#send({ type: "abort", triggerId, reason });
  }

  async kill(): Promise<void> {
    if (!this.#isGone && this.#process.pid !== undefined) await killTree(this.#process.pid);
    await this.exited;
  }

  #send(message: ToChild): void {
    if (this.#process.connected) this.#process.send(message, () => undefined);
  }

  #onMessage(message: FromChild): void {
    if (this.#isGone || message.type === "ready") return;
    if (message.type === "mask") this.#options.onMask(message.secret);
    else if (message.type === "log") this.#options.onLog(message);
    else if (message.type === "outcome") this.#options.onOutcome(message.triggerId, message.outcome);
    else {
      const { id, triggerId } = message;
      this.#options.onCall(triggerId, message).then(
        (value) => this.#send({ type: "reply", id, ...(value === undefined ? {} : { value }) }),
        (error: unknown) =>
          this.#send({ type: "refuse", id, message: error instanceof Error ? error.message : String(error) }),
      );
    }
  }

  #onNotice(notice: Notice): void {
    const { triggerId: culprit } = notice;
    if (notice.type === "slow") this.#options.onSlow(culprit, notice.ms);
    else if (notice.type === "exit") {
      this.#end ??= { how: `was ended by it with process.exit(${notice.code})`, culprit, name: "TriggerExited" };
    } else {
      const how = `had its event loop blocked for ${(notice.ms / 1000).toFixed(1)} s`;
      this.#end ??= { how, culprit, name: "TriggerBlocked" };
      void this.kill();
    }
  }
}

function describeExit(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal === "SIGKILL") return "was killed by SIGKILL, as the system does when memory runs out";
  if (signal === "SIGABRT" || code === 134) return "was aborted by V8, as happens when its heap is full";
  return signal === null ? `ended with exit code ${code ?? "unknown"}` : `was ended by ${signal}`;
}
