// One warm child process: started ahead, runs one attempt or callback at a time, and can always be stopped: first it is asked
// (AbortSignal), then told (SIGTERM), then killed with all it started. Kept until it ends abnormally or is worn out.
import { fork, type ChildProcess } from "node:child_process";
import type { CallbackOutcome, CallbackRequest, RenderOutcome, RunRequest, TaskOutcome } from "@millrace/sdk/runtime";
import type { Json } from "@millrace/sdk/spec";
import { childEnvironment } from "@millrace/shared/config";
import { killTree } from "@millrace/shared/lifecycle";
import type { Call, FromChild, ToChild } from "./ipc.ts";

export interface ChildOptions {
  readonly program: string;
  readonly heapMb: number;
  /** From being asked to stop to SIGKILL; SIGTERM comes half-way. */
  readonly graceMs: number;
}

export interface AttemptHandlers {
  readonly onLog: (line: Extract<FromChild, { type: "log" }>) => void;
  readonly onMask: (secret: Json) => void;
  /** Answers what the handler asks for; a rejection reaches the handler as an error with this message. */
  readonly onCall: (call: Call) => Promise<Extract<ToChild, { type: "reply" }>["value"]>;
}

export type ChildResult<O = TaskOutcome> =
  | { readonly kind: "outcome"; readonly outcome: O }
  /** The process ended without telling an outcome. */
  | { readonly kind: "died"; readonly how: string };

/** A line that does not end is cut here. */
const MAX_REST_CHARS = 1_000_000;

type Outcome = TaskOutcome | CallbackOutcome | RenderOutcome;

interface Current {
  readonly handlers: AttemptHandlers;
  readonly settle: (result: ChildResult<Outcome>) => void;
}

export class WarmChild {
  readonly #process: ChildProcess;
  readonly #options: ChildOptions;
  readonly ready: Promise<void>;
  readonly exited: Promise<void>;
  #current: Current | undefined;
  #runs = 0;
  #rssBytes = 0;
  #isGone = false;
  readonly #groups = new Set<number>();
  #stopTimers: NodeJS.Timeout[] = [];
  readonly #sayRests: (() => void)[] = [];

  constructor(options: ChildOptions) {
    this.#options = options;
    this.#process = fork(options.program, [], {
      env: childEnvironment(),
      execArgv: [`--max-old-space-size=${options.heapMb}`],
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      // A group of its own: Ctrl-C in a terminal asks the worker to drain and must not reach its children.
      detached: true,
    });
    let isReady: () => void = () => undefined;
    this.ready = new Promise((resolve) => (isReady = resolve));
    this.exited = new Promise((resolve) => {
      const gone = (how: string) => {
        if (this.#isGone) return;
        this.#isGone = true;
        this.#killGroups();
        this.#settle({ kind: "died", how });
        isReady();
        resolve();
      };
      this.#process.once("exit", (code, signal) => gone(describeExit(code, signal)));
      this.#process.once("error", (error) => gone(`could not be started: ${error.message}`));
    });
    this.#process.on("message", (message: FromChild) => {
      if (message.type === "ready") isReady();
      else this.#onMessage(message);
    });
    // Written past the child's own stream objects: by native code or its own children.
    for (const [stream, logger, level] of [
      [this.#process.stdout, "task.stdout", "info"],
      [this.#process.stderr, "task.stderr", "error"],
    ] as const) {
      const say = (message: string) => {
        if (message !== "") this.#current?.handlers.onLog({ type: "log", level, logger, message });
      };
      // Whole lines only: what is hidden in a log is not found in a half.
      let rest = "";
      const sayRest = () => {
        say(rest);
        rest = "";
      };
      this.#sayRests.push(sayRest);
      stream?.setEncoding("utf8").on("data", (text: string) => {
        const lines = (rest + text).split("\n");
        rest = lines.pop() ?? "";
        for (const message of lines) say(message);
        if (rest.length > MAX_REST_CHARS) sayRest();
      });
    }
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  isWornOut(maxRuns: number, maxRssBytes: number): boolean {
    return this.#runs >= maxRuns || this.#rssBytes > maxRssBytes;
  }

  run(artifactPath: string, request: RunRequest, handlers: AttemptHandlers): Promise<ChildResult> {
    return this.#give<TaskOutcome>({ type: "run", artifactPath, request }, handlers);
  }

  runCallback(
    artifactPath: string,
    request: CallbackRequest,
    handlers: AttemptHandlers,
  ): Promise<ChildResult<CallbackOutcome>> {
    return this.#give<CallbackOutcome>({ type: "callback", artifactPath, request }, handlers);
  }

  /** The template fields of a task: nothing of it is run but its templates. */
  render(artifactPath: string, request: RunRequest, handlers: AttemptHandlers): Promise<ChildResult<RenderOutcome>> {
    return this.#give<RenderOutcome>({ type: "render", artifactPath, request }, handlers);
  }

  /** The child answers what it is given with an outcome of that kind, which is `O`. */
  #give<O extends Outcome>(what: ToChild, handlers: AttemptHandlers): Promise<ChildResult<O>> {
    return new Promise((resolve) => {
      this.#current = { handlers, settle: (result) => resolve(result as ChildResult<O>) };
      this.#runs++;
      if (this.#isGone) this.#settle({ kind: "died", how: "ended before it was used" });
      else this.#send(what);
    });
  }

  /** Asks the running handler to stop, and makes sure that it does. */
  abort(reason: string, name: "TaskTimeout" | "TaskStopped" = "TaskStopped"): void {
    if (this.#current === undefined || this.#stopTimers.length > 0) return;
    this.#send({ type: "abort", reason, name });
    const { graceMs } = this.#options;
    this.#stopTimers = [
      setTimeout(() => this.#process.kill("SIGTERM"), graceMs / 2),
      setTimeout(() => void this.kill(), graceMs),
    ];
  }

  /** Ends the process and all it started, now. */
  async kill(): Promise<void> {
    if (!this.#isGone && this.#process.pid !== undefined) await killTree(this.#process.pid);
    await this.exited;
  }

  #send(message: ToChild): void {
    if (this.#process.connected) this.#process.send(message, () => undefined);
  }

  #killGroups(): void {
    for (const pid of this.#groups) {
      try {
        process.kill(-pid, "SIGKILL");
      } catch {
        // It ended by itself.
      }
    }
    this.#groups.clear();
  }

  #onMessage(message: Exclude<FromChild, { type: "ready" }>): void {
    if (message.type === "group") {
      if (message.what === "started") this.#groups.add(message.pid);
      else this.#groups.delete(message.pid);
      return;
    }
    const current = this.#current;
    if (current === undefined) return;
    if (message.type === "mask") current.handlers.onMask(message.secret);
    else if (message.type === "log") current.handlers.onLog(message);
    else if (message.type === "outcome") {
      this.#rssBytes = message.rssBytes;
      this.#settle({ kind: "outcome", outcome: message.outcome });
    } else {
      const { id } = message;
      current.handlers.onCall(message).then(
        (value) => this.#send({ type: "reply", id, ...(value === undefined ? {} : { value }) }),
        (error: unknown) =>
          this.#send({ type: "refuse", id, message: error instanceof Error ? error.message : String(error) }),
      );
    }
  }

  #settle(result: ChildResult<Outcome>): void {
    for (const timer of this.#stopTimers.splice(0)) clearTimeout(timer);
    for (const sayRest of this.#sayRests) sayRest();
    const current = this.#current;
    this.#current = undefined;
    current?.settle(result);
  }
}

function describeExit(code: number | null, signal: NodeJS.Signals | null): string {
  if (signal === "SIGKILL") return "was killed by SIGKILL, as the system does when memory runs out";
  if (signal === "SIGABRT" || code === 134) return "was aborted by V8, as happens when its heap is full";
  return signal === null ? `ended with exit code ${code ?? "unknown"}` : `was ended by ${signal}`;
}
