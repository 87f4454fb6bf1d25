// One callback from its claim to its end: a warm child, a time limit, and what it writes in the log of its attempt or run.
import type { TaskError } from "@millrace/sdk/runtime";
import type { Config } from "@millrace/shared/config";
import type { ArtifactStore, ClaimedCallback, Database, DagVersions } from "@millrace/shared/db";
import { messageOf } from "@millrace/shared/errors";
import { AttemptLog, attemptLogPath, callbacksLogPath, mapStack, type Logger } from "@millrace/shared/observability";
import type { Broker } from "@millrace/shared/queue";
import type { Secrets } from "@millrace/shared/secrets";
import type { XComs } from "@millrace/shared/xcoms";
import { answerCall } from "../run/answer-call.ts";
import type { Child, ChildPool } from "../run/child-pool.ts";
import { callbackRequest } from "./callback-request.ts";

export interface CallbackRunDeps {
  readonly db: Database;
  readonly broker: Broker;
  readonly config: Config;
  readonly log: Logger;
  readonly pool: ChildPool;
  readonly artifacts: ArtifactStore;
  readonly versions: DagVersions;
  readonly secrets: Secrets;
  readonly xcoms: XComs;
}

export type CallbackEnding =
  | { readonly state: "success" }
  | { readonly state: "failed"; readonly output: string }
  /** Handed back: the worker stops. */
  | { readonly state: "pending" }
  /** Nothing is written: another worker has it, or it could not be begun and is found again when its lease is over. */
  | { readonly state: "left" };

interface Stop {
  readonly kind: "timeout" | "release" | "lost";
  readonly reason: string;
}

const MAX_OUTPUT_CHARS = 20_000;

export class CallbackRun {
  readonly callback: ClaimedCallback;
  readonly #deps: CallbackRunDeps;
  readonly #log: AttemptLog;
  #child: Child | undefined;
  #stopped: Stop | undefined;

  constructor(deps: CallbackRunDeps, callback: ClaimedCallback) {
    const { dagId, runId, taskId, mapIndex, tryNumber } = callback;
    const base = deps.config.logging.base_log_folder;
    const path =
      taskId === null
        ? callbacksLogPath(base, { dagId, runId })
        : attemptLogPath(base, { dagId, runId, taskId, mapIndex, tryNumber });
    this.#deps = deps;
    this.callback = callback;
    this.#log = new AttemptLog(path, deps.log, deps.secrets.redactor);
  }

  /** `timeout` lets it end by itself for a moment. */
  stop(why: Stop): void {
    if (this.#stopped !== undefined) return;
    this.#stopped = why;
    this.#log.write("warn", "millrace", `stopping ${this.callback.kind}: ${why.reason}`);
    if (why.kind === "timeout") this.#child?.abort(why.reason);
    else void this.#child?.kill();
  }

  async run(): Promise<CallbackEnding> {
    const { kind, id, attempts } = this.callback;
    this.#log.write("info", "millrace", `${kind} starts`, { callback: id, pid: process.pid, begun: attempts });
    try {
      const ending = await this.#runInChild();
      if (ending.state === "success") this.#log.write("info", "millrace", `${kind} ended`);
      if (ending.state === "failed") this.#log.write("error", "millrace", `${kind} failed: ${ending.output}`);
      return ending;
    } finally {
      await this.#log.close();
    }
  }

  async #runInChild(): Promise<CallbackEnding> {
    const { config, pool } = this.#deps;
    const { artifactHash } = this.callback;
    if (artifactHash === null) return failed("the DAG version that it belongs to is gone");
    let timer: NodeJS.Timeout | undefined;
    try {
      const request = await callbackRequest(this.callback, this.#deps.versions, config.core.max_xcom_bytes);
      const artifactPath = await this.#deps.artifacts.path(artifactHash);
      this.#child = await pool.acquire();
      if (this.#stopped !== undefined) return endingOf(this.#stopped);
      const limit = config.workers.callback_timeout;
      const reason = `it ran longer than workers.callback_timeout of ${limit} s`;
      timer = setTimeout(() => this.stop({ kind: "timeout", reason }), limit * 1000);
      const result = await this.#child.runCallback(artifactPath, request, {
        onMask: (secret) => this.#deps.secrets.redactor.add(secret),
        onLog: (line) => this.#log.write(line.level, line.logger, line.message, line.fields),
        onCall: (call) => answerCall(this.#deps, undefined, call),
      });
      // Read anew: it may have been stopped meanwhile.
      const stopped = this.#stopped as Stop | undefined;
      if (stopped !== undefined) return endingOf(stopped);
      if (result.kind === "died") return failed(`the process that ran it ${result.how}`);
      if (result.outcome.kind === "success") return { state: "success" };
      const output = (await Promise.all(result.outcome.errors.map((error) => this.#describe(error)))).join("\n\n");
      return failed(this.#deps.secrets.redactor.redact(output));
    } catch (error) {
      const cause = messageOf(error);
      this.#log.write(
        "warn",
        "millrace",
        `${this.callback.kind} could not be begun, and is tried again later: ${cause}`,
      );
      return this.#stopped === undefined ? { state: "left" } : endingOf(this.#stopped);
    } finally {
      clearTimeout(timer);
      const child = this.#child;
      // A stop that comes now must not reach what the child is given next.
      this.#child = undefined;
      if (child !== undefined) pool.release(child);
    }
  }

  /** With the lines of the user's own file. */
  async #describe(error: TaskError): Promise<string> {
    const plain = `${error.name}: ${error.message}`;
    if (error.stack === undefined || error.stack === "") return plain;
    try {
      return mapStack(error.stack, await this.#deps.artifacts.sourceMap(this.callback.artifactHash ?? ""), {});
    } catch {
      return error.stack;
    }
  }
}

const failed = (output: string): CallbackEnding => ({
  state: "failed",
  output: output.replaceAll("\0", "\\0").slice(0, MAX_OUTPUT_CHARS),
});

function endingOf(stopped: Stop): CallbackEnding {
  if (stopped.kind === "timeout") return failed(`stopped: ${stopped.reason}`);
  return { state: stopped.kind === "release" ? "pending" : "left" };
}
