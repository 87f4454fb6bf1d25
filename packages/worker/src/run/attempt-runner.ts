// Runs one claimed attempt from its claim to the writing of its end: inputs, a warm child, the execution timeout, and the
// decision whether a failure is tried again.
import type { RunRequest, TaskError, TaskOutcome } from "@millrace/sdk/runtime";
import type { TaskSpec } from "@millrace/sdk/spec";
import type { Config } from "@millrace/shared/config";
import {
  assetEventsOf,
  DagVersions,
  inactiveAssets,
  wrongAssetEvents,
  type ArtifactStore,
  type ClaimedAttempt,
  type Database,
} from "@millrace/shared/db";
import { messageOf } from "@millrace/shared/errors";
import { crashPoint } from "@millrace/shared/lifecycle";
import {
  hasTryLeft,
  jitterOf,
  NoElement,
  retryDelaySeconds,
  type DagGraph,
  type TaskNode,
} from "@millrace/shared/model";
import { AttemptLog, attemptLogPath, mapStack, type Logger } from "@millrace/shared/observability";
import { checkRunParams } from "@millrace/shared/params";
import type { Broker } from "@millrace/shared/queue";
import type { Secrets } from "@millrace/shared/secrets";
import type { XComs } from "@millrace/shared/xcoms";
import type { Ending, Finisher, Wait } from "../finish/finisher.ts";
import type { HeldAttempt, Heartbeats } from "../heartbeat/heartbeats.ts";
import { confirmStop } from "../finish/stopper.ts";
import { answerCall } from "./answer-call.ts";
import type { Child, ChildPool } from "./child-pool.ts";
import { Labels } from "./labels.ts";
import { onceAvailable } from "./once-available.ts";
import { Inputs } from "./read-inputs.ts";
import { requestOf } from "./run-request.ts";
import type { ChildResult } from "./warm-child.ts";
import { keepReturnValue, xcomFailure } from "./xcom-failure.ts";

/** What is kept of an error on the row: the log has it whole. */
const MAX_REASON = 500;

export interface AttemptRunnerDeps {
  readonly db: Database;
  readonly config: Config;
  readonly log: Logger;
  readonly pool: ChildPool;
  readonly artifacts: ArtifactStore;
  readonly heartbeats: Heartbeats;
  readonly finisher: Finisher;
  readonly broker: Broker;
  readonly secrets: Secrets;
  readonly xcoms: XComs;
  /** Called when an attempt has ended whose task has callbacks. */
  readonly onCallbacks: () => void;
}

/** Why an attempt is being stopped from outside. */
interface Stop {
  readonly reason: string;
  /**
   * `timeout` is the task's own failure, `asked` ends as somebody wished; both let the handler end by itself for a
   * moment. `release` hands the attempt back, `lost` leaves it to whoever took it.
   */
  readonly kind: "timeout" | "asked" | "release" | "lost";
}

const NEWER = "its worker is older than its DAG and handed it back";
/** Until a newer worker may be the one to take it. */
const NEWER_DELAY_SECONDS = 5;

export class AttemptRunner {
  readonly #deps: AttemptRunnerDeps;
  readonly #versions: DagVersions;
  readonly #inputs: Inputs;
  readonly #labels: Labels;
  readonly #running = new Map<string, (stop: Stop) => void>();

  constructor(deps: AttemptRunnerDeps) {
    this.#deps = deps;
    this.#versions = new DagVersions(deps.db, 1_000);
    this.#inputs = new Inputs(deps.db, deps.xcoms);
    this.#labels = new Labels(deps.db, deps.secrets.redactor);
  }

  /** Stops every attempt and hands it back without using a try: the worker's time to drain is over. */
  releaseAll(): void {
    for (const stop of this.#running.values())
      stop({ reason: "the worker shut down before the task ended", kind: "release" });
  }

  /** @param onChildFree called as soon as the handler has ended, before its end is written */
  async run(attempt: ClaimedAttempt, onChildFree: () => void): Promise<void> {
    const { config, heartbeats, finisher } = this.#deps;
    const log = new AttemptLog(
      attemptLogPath(config.logging.base_log_folder, attempt),
      this.#deps.log,
      this.#deps.secrets.redactor,
    );
    let stopped: Stop | undefined;
    let child: Child | undefined;
    // What the handler asked for ends with it. Few ask for anything, and a controller costs as much as a small handler.
    let calls: AbortController | undefined;
    const signalOfCalls = () => {
      calls ??= new AbortController();
      if (stopped !== undefined) calls.abort(new Error(stopped.reason));
      return calls.signal;
    };
    const stop = (why: Stop) => {
      if (stopped !== undefined) return;
      stopped = why;
      calls?.abort(new Error(why.reason));
      log.write("warn", "millrace", `stopping: ${why.reason}`);
      if (why.kind === "timeout" || why.kind === "asked")
        child?.abort(why.reason, why.kind === "timeout" ? "TaskTimeout" : "TaskStopped");
      else void child?.kill();
    };
    const held: HeldAttempt = {
      id: attempt.id,
      epoch: attempt.epoch,
      stop: (reason, kind) => stop({ reason, kind }),
    };
    heartbeats.add(held);
    this.#running.set(attempt.id, stop);
    let timer: NodeJS.Timeout | undefined;
    try {
      const patiently = async <T>(ask: () => Promise<T>): Promise<T> =>
        await onceAvailable(ask, () => stopped !== undefined, this.#deps.log);
      const found = await patiently(() => this.#nodeOf(attempt));
      if (found === undefined) {
        onChildFree();
        await finisher.finish(attempt, { kind: "retry", delaySeconds: NEWER_DELAY_SECONDS, free: true, reason: NEWER });
        return;
      }
      const { graph, node } = found;
      const { spec } = node;
      log.note(`try ${attempt.tryNumber} of ${attempt.dagId}.${attempt.taskId} starts`, {
        run_id: attempt.runId,
        pid: process.pid,
      });
      let result: ChildResult;
      let request: RunRequest | undefined;
      try {
        const inactive = await patiently(() => inactiveAssets(this.#deps.db, spec));
        if (inactive.length > 0) throw new InactiveAssets(inactive);
        const asked = await patiently(() => requestOf({ ...this.#deps, inputs: this.#inputs }, attempt, node, graph));
        requireFit(asked, graph);
        request = asked;
        const artifactPath = await patiently(() => this.#deps.artifacts.path(attempt.artifactHash));
        child = await this.#deps.pool.acquire();
        if (stopped !== undefined) throw new Error("it was stopped before it began");
        const limit = spec.executionTimeout;
        if (limit !== undefined) {
          timer = setTimeout(
            () => stop({ reason: `the task ran longer than its executionTimeout of ${limit} s`, kind: "timeout" }),
            limit * 1000,
          );
        }
        result = await child.run(artifactPath, request, {
          onMask: (secret) => this.#deps.secrets.redactor.add(secret),
          onLog: (line) => log.write(line.level, line.logger, line.message, line.fields),
          onCall: (call) => {
            const answer = () =>
              answerCall(
                { ...this.#deps, versions: this.#versions, labels: this.#labels },
                attempt,
                call,
                signalOfCalls(),
              );
            // A run that was started must not be started again; the transaction repeats what it safely can. And of
            // statements on databases of others nobody here knows whether they may be repeated.
            return call.method === "triggerDagRun" || call.method === "runSql" ? answer() : patiently(answer);
          },
        });
      } catch (error) {
        const unavailable = xcomFailure(error);
        result =
          error instanceof ParamsInvalid || error instanceof InactiveAssets
            ? error.result
            : error instanceof NoElement
              ? { kind: "outcome", outcome: failure(error.name, error.message, false) }
              : unavailable === undefined
                ? { kind: "died", how: `could not be given the attempt: ${messageOf(error)}` }
                : { kind: "outcome", outcome: unavailable };
      } finally {
        clearTimeout(timer);
        calls?.abort(new Error("the handler has ended"));
        // A handler that was stopped may have left something going, and nothing of it outlives its attempt.
        if (stopped !== undefined) await child?.kill();
        if (child !== undefined) this.#deps.pool.release(child);
        // A stop that comes now must not reach the attempt that the child is given next.
        child = undefined;
        onChildFree();
      }
      const why = stopped as Stop | undefined;
      if (why?.kind === "lost") return;
      // Told of its timeout, a sensor may say that it is skipped then.
      const isSkip = why?.kind === "timeout" && result.kind === "outcome" && result.outcome.kind === "skipped";
      const outcome =
        why === undefined || why.kind === "asked" || isSkip
          ? outcomeOf(result)
          : failure(why.kind === "timeout" ? "TaskTimeout" : "WorkerShutdown", why.reason);
      // A handler that ended before it heard of the wish may still be the first: then its end is refused below.
      const ending = why?.kind === "asked" ? undefined : await this.#ending(attempt, spec, outcome, log, why);
      await log.settle();
      crashPoint("worker.handled");
      const isWritten = ending !== undefined && (await finisher.finish(attempt, ending));
      if (!isWritten) await this.#endAsWished(attempt, spec, log);
      if (spec.callbacks.length > 0) this.#deps.onCallbacks();
    } finally {
      this.#running.delete(attempt.id);
      heartbeats.remove(held);
      await log.close();
    }
  }

  async #endAsWished(attempt: ClaimedAttempt, spec: TaskSpec, log: AttemptLog): Promise<void> {
    const { db, broker } = this.#deps;
    const state = await confirmStop(db, broker, this.#deps.log, attempt, spec.retries);
    if (state !== undefined) {
      log.write(
        "info",
        "millrace",
        state === "none" ? "the task was cleared and starts afresh" : `the task is ${state}, as it was marked`,
      );
      return;
    }
    log.write("warn", "millrace", "the result was dropped: this attempt was no longer the current one");
    this.#deps.log.warn(
      { attempt: attempt.id, dag: attempt.dagId, task: attempt.taskId },
      "a stale result was dropped",
    );
  }

  /** Undefined when only a newer worker understands its DAG. */
  async #nodeOf(attempt: ClaimedAttempt): Promise<{ readonly graph: DagGraph; readonly node: TaskNode } | undefined> {
    const graph = (await this.#versions.load([attempt.versionId])).get(attempt.versionId);
    const node = graph?.tasks.get(attempt.taskId);
    if (this.#versions.isNewer(attempt.versionId)) {
      const { dagId: dag, versionId } = attempt;
      if (this.#versions.isNewToSay(versionId))
        this.#deps.log.error(
          { dag, cause: this.#versions.whyNot(versionId) },
          "tasks of a DAG are handed back: this worker cannot run them",
        );
      return undefined;
    }
    if (graph === undefined || node === undefined)
      throw new Error(`version ${attempt.versionId} of ${attempt.dagId} has no task ${attempt.taskId}`);
    return { graph, node };
  }

  async #ending(
    attempt: ClaimedAttempt,
    spec: TaskSpec,
    outcome: TaskOutcome,
    log: AttemptLog,
    stopped: Stop | undefined,
  ): Promise<Ending> {
    if (outcome.kind === "success") {
      const assetEvents = assetEventsOf(attempt, spec, outcome);
      const wrongEvents = wrongAssetEvents(assetEvents, this.#deps.config.core.max_xcom_bytes);
      if (wrongEvents !== undefined)
        return await this.#ending(attempt, spec, failure("AssetEventInvalid", wrongEvents), log, stopped);
      const pushed = spec.doXcomPush ? outcome.returnValue : undefined;
      const { held, failure: notKept } = await keepReturnValue(this.#deps.xcoms, attempt, pushed, this.#deps.log);
      if (notKept !== undefined) return await this.#ending(attempt, spec, notKept, log, stopped);
      log.note("the task succeeded");
      return {
        kind: "final",
        state: "success",
        ...(outcome.branch === undefined ? {} : { branchDecision: JSON.stringify(outcome.branch) }),
        ...(held === undefined ? {} : { returnValue: held, isDagResult: spec.returnsDagResult }),
        ...(assetEvents.length === 0 ? {} : { assetEvents }),
      };
    }
    if (outcome.kind === "skipped") {
      log.write("info", "millrace", `the task was skipped: ${outcome.message}`);
      return { kind: "final", state: "skipped" };
    }
    if (outcome.kind === "rescheduled") {
      log.note(`not yet: the next poke is in ${outcome.delaySeconds} s`);
      return outcome;
    }
    if (outcome.kind === "deferred") {
      const wrong = wrongWait(outcome, this.#deps.config.core.max_xcom_bytes);
      if (wrong !== undefined)
        return await this.#ending(attempt, spec, failure("DeferralInvalid", wrong), log, stopped);
      log.write("info", "millrace", `the task waits for the trigger ${outcome.trigger.name}`);
      return { kind: "deferred", wait: outcome };
    }
    log.write("error", "millrace", await this.#describe(attempt, outcome.error));
    // Redacted whole: half a secret would not be found.
    const message = this.#deps.secrets.redactor.redact(`${outcome.error.name}: ${outcome.error.message}`);
    const reason = message.slice(0, MAX_REASON);
    if (stopped?.kind === "release") {
      log.write("info", "millrace", "it runs again without using a try");
      return { kind: "retry", delaySeconds: 0, free: true, reason };
    }
    if (!hasTryLeft({ tryNumber: attempt.tryNumber, maxTries: attempt.maxTries, retryable: outcome.retryable })) {
      return { kind: "final", state: "failed", reason };
    }
    const jitter = jitterOf(`${attempt.dagId}#${attempt.taskId}#${attempt.runId}#${attempt.tryNumber}`);
    const delaySeconds = retryDelaySeconds(
      spec,
      attempt.tryNumber,
      jitter,
      this.#deps.config.core.max_task_retry_delay,
    );
    log.write("info", "millrace", `it is tried again in ${delaySeconds} s`);
    return { kind: "retry", delaySeconds, free: false, reason };
  }

  /** The failure as its author wants to see it: with the lines of their own file. */
  async #describe(attempt: ClaimedAttempt, error: TaskError): Promise<string> {
    if (error.stack === undefined || error.stack === "") return `${error.name}: ${error.message}`;
    try {
      return mapStack(error.stack, await this.#deps.artifacts.sourceMap(attempt.artifactHash), {});
    } catch {
      return error.stack;
    }
  }
}

/** Whatever a child says, only what can be stored gets into a statement that others share. */
function wrongWait({ trigger, state, timeoutSeconds, hitl }: Wait, maxBytes: number): string | undefined {
  if (trigger.name === "" || trigger.name.length > 1_000) return "the name of a trigger has 1 to 1,000 characters";
  if (timeoutSeconds !== undefined && !(timeoutSeconds > 0 && Number.isFinite(timeoutSeconds))) {
    return `the timeout of the trigger ${trigger.name} must be more than 0 seconds, got ${timeoutSeconds}`;
  }
  const bytes = Buffer.byteLength(JSON.stringify([trigger, state, hitl]));
  return bytes > maxBytes
    ? `the trigger ${trigger.name} and its state take ${bytes} bytes of JSON, more than ${maxBytes}`
    : undefined;
}

/**
 * The run may have been asked for when its version's schemas were others, or moved to another version.
 * @throws ParamsInvalid
 */
function requireFit({ conf }: RunRequest, { spec }: DagGraph): void {
  const { violations } = checkRunParams(spec, conf);
  if (violations.length > 0) throw new ParamsInvalid(`the params of the run do not fit: ${violations.join("; ")}`);
}

/** Before the handler was begun; the next try would be given the same. */
class ParamsInvalid extends Error {
  override readonly name = "ParamsInvalid";

  get result(): ChildResult {
    const { name, message } = this;
    return { kind: "outcome", outcome: { kind: "failed", retryable: false, error: { name, message } } };
  }
}

/** As in Airflow, this is no failure that another try could mend. */
class InactiveAssets extends Error {
  readonly #assets: readonly string[];

  constructor(assets: readonly string[]) {
    super(`the task uses assets that are not active: ${assets.join(", ")}`);
    this.#assets = assets;
  }

  get result(): ChildResult {
    const why = "no DAG declares them, or another asset has the same name or uri";
    const message = `the task uses assets that are not active: ${this.#assets.join(", ")}: ${why}`;
    return {
      kind: "outcome",
      outcome: { kind: "failed", retryable: false, error: { name: "AssetInactive", message } },
    };
  }
}

const failure = (name: string, message: string, retryable = true): TaskOutcome => ({
  kind: "failed",
  retryable,
  error: { name, message },
});

/** A process that ended without an outcome is the task's own failure. */
const outcomeOf = (result: ChildResult): TaskOutcome =>
  result.kind === "outcome"
    ? result.outcome
    : failure("TaskProcessDied", `the process that ran the task ${result.how}`);
