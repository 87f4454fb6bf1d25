// Triggers that DAG files define. Those of one artifact share a process and its event loop. When that process ends, the
// trigger that did it fails, if it is known, and all others start again in a fresh one: their waits begin anew, as they do
// on another triggerer. An artifact whose process keeps ending for no known reason has its triggers failed.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RunRequest, TriggerOutcome } from "@millrace/sdk/runtime";
import type { Json } from "@millrace/sdk/spec";
import type { Config } from "@millrace/shared/config";
import {
  ArtifactStore,
  DagVersions,
  waitingAttempts,
  watchingAttempts,
  type Database,
  type WaitingAttempt,
} from "@millrace/shared/db";
import { messageOf } from "@millrace/shared/errors";
import { plainProgram } from "@millrace/shared/lifecycle";
import { mapStack, type Logger } from "@millrace/shared/observability";
import type { Secrets } from "@millrace/shared/secrets";
import { XComs } from "@millrace/shared/xcoms";
import type { AttemptLogs } from "../attempt-logs.ts";
import { checkOutcome } from "../check-outcome.ts";
import { failed, type Fired, type LoadedTrigger, type Runner } from "../trigger.ts";
import { answerCall } from "./answer-call.ts";
import { LOADING, NOBODY, type LogLine } from "./ipc.ts";
import { TriggerProcess, type ProcessEnd } from "./trigger-process.ts";

export interface UserTriggersDeps {
  readonly db: Database;
  readonly config: Config;
  readonly log: Logger;
  readonly logs: AttemptLogs;
  readonly secrets: Secrets;
  readonly fire: (fired: readonly Fired[]) => Promise<void>;
  /** How long a process without triggers is kept. Default 30,000 ms. */
  readonly idleMs?: number;
}

interface Held {
  readonly trigger: LoadedTrigger;
  /** Known once it runs. */
  attempt?: WaitingAttempt;
}

interface Group {
  readonly artifactHash: string;
  readonly ids: Set<number>;
  process: TriggerProcess | undefined;
  /** When its process ended for no known reason, by the process's clock. */
  crashes: number[];
  idle: NodeJS.Timeout | undefined;
}

const WARN_MS = 200;
const IDLE_MS = 30_000;
const MAX_CRASHES = 3;
const CRASH_WINDOW_MS = 60_000;

export class UserTriggers implements Runner {
  readonly #deps: UserTriggersDeps;
  readonly #artifacts: ArtifactStore;
  readonly #versions: DagVersions;
  readonly #xcoms: XComs;
  readonly #held = new Map<number, Held>();
  readonly #groups = new Map<string, Group>();
  readonly #processes = new Set<TriggerProcess>();
  #program: Promise<{ readonly folder: string; readonly path: string }> | undefined;
  #isStopped = false;

  constructor(deps: UserTriggersDeps) {
    this.#deps = deps;
    this.#artifacts = new ArtifactStore(deps.db, deps.config.workers.artifact_folder);
    this.#versions = new DagVersions(deps.db, 1_000);
    this.#xcoms = new XComs(deps.db, deps.config);
  }

  get size(): number {
    return this.#held.size;
  }

  ids(): Iterable<number> {
    return this.#held.keys();
  }

  add(triggers: readonly LoadedTrigger[]): void {
    const added = triggers.filter((trigger) => !this.#held.has(trigger.id)).map((trigger) => ({ trigger }));
    for (const held of added) this.#held.set(held.trigger.id, held);
    if (added.length > 0) void this.#begin(added);
  }

  drop(ids: readonly number[]): void {
    for (const id of ids) {
      const held = this.#held.get(id);
      if (held === undefined) continue;
      this.#groupOf(held)?.process?.abort(id, "nothing waits for the trigger any more");
      this.#forget(id, held);
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#held.clear();
    for (const group of this.#groups.values()) clearTimeout(group.idle);
    await Promise.all([...this.#processes].map((process) => process.kill()));
    const program = await this.#program?.catch(() => undefined);
    if (program !== undefined) await rm(program.folder, { recursive: true, force: true });
  }

  async #begin(added: readonly Held[]): Promise<void> {
    try {
      const attempts = await this.#deps.db.run(waitingAttempts, [added.map((held) => held.trigger.id)]);
      const byTrigger = new Map(attempts.map((attempt) => [attempt.triggerId, attempt]));
      const others = added.flatMap((held) => (byTrigger.has(held.trigger.id) ? [] : [held.trigger.id]));
      if (others.length > 0) {
        for (const row of await this.#deps.db.run(watchingAttempts, [others])) byTrigger.set(row.triggerId, row);
      }
      const byArtifact = new Map<string, Held[]>();
      for (const held of added) {
        const { id } = held.trigger;
        if (this.#held.get(id) !== held) continue;
        const attempt = byTrigger.get(id);
        if (attempt === undefined) {
          // Its task was cleared or marked meanwhile.
          this.#held.delete(id);
          continue;
        }
        held.attempt = attempt;
        byArtifact.set(attempt.artifactHash, [...(byArtifact.get(attempt.artifactHash) ?? []), held]);
      }
      for (const [hash, those] of byArtifact) await this.#run(hash, those);
    } catch (error) {
      // They are this triggerer's and do not run: the next comparison with the database loads them again.
      this.#deps.log.warn({ cause: messageOf(error) }, "triggers could not be started; they are tried again");
      for (const { trigger } of added)
        if (this.#held.get(trigger.id)?.attempt === undefined) this.#held.delete(trigger.id);
    }
  }

  async #run(hash: string, those: readonly Held[]): Promise<void> {
    const group = this.#groups.get(hash) ?? {
      artifactHash: hash,
      ids: new Set(),
      process: undefined,
      crashes: [],
      idle: undefined,
    };
    this.#groups.set(hash, group);
    clearTimeout(group.idle);
    for (const held of those) group.ids.add(held.trigger.id);
    try {
      const [artifactPath, { path }] = await Promise.all([this.#artifacts.path(hash), this.#programPath()]);
      const requests = await Promise.all(those.map((held) => this.#requestOf(held)));
      if (this.#isStopped) return;
      group.process ??= this.#spawn(group, path);
      for (const [i, held] of those.entries()) {
        const attempt = requests[i];
        if (this.#held.get(held.trigger.id) !== held || attempt === undefined) continue;
        const { id: triggerId, name, kwargs } = held.trigger;
        group.process.start(artifactPath, {
          triggerId,
          trigger: { name, kwargs },
          attempt,
          ...(held.attempt?.taskId === "" ? { isWatcher: true } : {}),
        });
      }
    } catch (error) {
      if (isOutage(error)) {
        for (const held of those) this.#forget(held.trigger.id, held);
        throw error;
      }
      const outcome = failed("TriggerNotLoaded", messageOf(error));
      for (const held of those) this.#end(held, outcome);
    }
  }

  async #programPath(): Promise<{ readonly folder: string; readonly path: string }> {
    this.#program ??= (async () => {
      const folder = await mkdtemp(join(tmpdir(), "millrace-triggers-"));
      const path = join(folder, "child.mjs");
      await writeFile(path, await plainProgram(import.meta.url, "./child"));
      return { folder, path };
    })();
    return await this.#program;
  }

  async #requestOf({ attempt }: Held): Promise<Omit<RunRequest, "inputs" | "waited"> | undefined> {
    if (attempt === undefined) return undefined;
    const iso = (date: Date | null) => date?.toISOString() ?? null;
    const graph = (await this.#versions.load([attempt.versionId])).get(attempt.versionId);
    const conf = attempt.conf as Record<string, Json>;
    const { dagId, taskId, runId, mapIndex, tryNumber, maxTries, runType } = attempt;
    return {
      ...{ dagId, taskId, runId, mapIndex, tryNumber, maxTries, runType, conf },
      logicalDate: iso(attempt.logicalDate),
      dataIntervalStart: iso(attempt.dataIntervalStart),
      dataIntervalEnd: iso(attempt.dataIntervalEnd),
      runAfter: attempt.runAfter.toISOString(),
      params: { ...graph?.spec.params, ...conf },
      maxXComBytes: this.#deps.config.core.max_xcom_bytes,
    };
  }

  #spawn(group: Group, program: string): TriggerProcess {
    const { config, db, secrets } = this.#deps;
    const spawned = new TriggerProcess({
      program,
      heapMb: config.workers.child_heap_mb,
      warnMs: Math.min(WARN_MS, config.triggerer.max_block_seconds * 1000),
      maxBlockMs: config.triggerer.max_block_seconds * 1000,
      onOutcome: (triggerId, outcome) => void this.#onOutcome(triggerId, outcome),
      onLog: (line) => this.#onLog(group, line),
      onMask: (secret) => secrets.redactor.add(secret),
      onCall: (_triggerId, call) => answerCall(db, secrets, this.#xcoms, call),
      onSlow: (triggerId, ms) => this.#onSlow(triggerId, ms),
      onEnd: (end) => {
        this.#processes.delete(spawned);
        if (group.process === spawned) group.process = undefined;
        this.#onEnd(group, end);
      },
    });
    this.#processes.add(spawned);
    return spawned;
  }

  async #onOutcome(triggerId: number, outcome: TriggerOutcome): Promise<void> {
    const held = this.#held.get(triggerId);
    if (held?.attempt === undefined) return;
    const checked = checkOutcome(held.trigger.name, outcome, this.#deps.config.core.max_xcom_bytes);
    if (checked.kind !== "failed") return this.#end(held, checked);
    const { name, message, stack } = checked.error;
    const shown = stack === undefined || stack === "" ? `${name}: ${message}` : await this.#mapped(held.attempt, stack);
    this.#end(held, { kind: "failed", error: { ...checked.error, stack: shown } });
  }

  /** As its author wants to see it: with the lines of their own file. */
  async #mapped(attempt: WaitingAttempt, stack: string): Promise<string> {
    try {
      return mapStack(stack, await this.#artifacts.sourceMap(attempt.artifactHash), {});
    } catch {
      return stack;
    }
  }

  #end(held: Held, outcome: TriggerOutcome): void {
    const { id, name } = held.trigger;
    if (!this.#forget(id, held)) return;
    if (held.attempt !== undefined && held.attempt.id !== "" && outcome.kind === "failed") {
      const { error } = outcome;
      const message = `trigger ${name} failed: ${error.stack ?? `${error.name}: ${error.message}`}`;
      this.#deps.logs.write(held.attempt, { level: "error", logger: "millrace", message });
    }
    void this.#deps.fire([{ triggerId: id, outcome }]);
  }

  #onLog(group: Group, { triggerId, level, logger, message, fields }: LogLine): void {
    const attempt = this.#held.get(triggerId)?.attempt;
    if (attempt !== undefined) {
      this.#deps.logs.write(attempt, { level, logger, message, ...(fields === undefined ? {} : { fields }) });
    } else {
      this.#deps.log.info({ artifact: group.artifactHash, line: message }, "a process of triggers said");
    }
  }

  #onSlow(triggerId: number, ms: number): void {
    const held = this.#held.get(triggerId);
    if (held?.attempt === undefined) return;
    const message = `trigger ${held.trigger.name} blocks the event loop, for ${ms} ms so far: the other triggers stand still meanwhile`;
    this.#deps.logs.write(held.attempt, { level: "warn", logger: "millrace", message });
    const { dagId, taskId } = held.attempt;
    this.#deps.log.warn(
      { trigger: held.trigger.name, dag: dagId, task: taskId, ms },
      "a trigger blocks its event loop",
    );
  }

  #onEnd(group: Group, end: ProcessEnd): void {
    if (this.#isStopped || group.ids.size === 0) return;
    const { culprit } = end;
    const limit = this.#deps.config.triggerer.max_block_seconds;
    const why =
      end.name === "TriggerBlocked" ? `${end.how}, and triggerer.max_block_seconds allows ${limit} s` : end.how;
    const guilty = this.#held.get(culprit);
    this.#deps.log.warn(
      { artifact: group.artifactHash, trigger: guilty?.trigger.name, triggers: group.ids.size, cause: why },
      "a process of triggers ended; the others start again",
    );
    if (guilty !== undefined) {
      this.#end(guilty, failed(end.name, `trigger ${guilty.trigger.name}: its process ${why}`));
    } else if (culprit === NOBODY || culprit === LOADING) {
      const now = performance.now();
      group.crashes = [...group.crashes.filter((at) => now - at < CRASH_WINDOW_MS), now];
    }
    const others = [...group.ids].flatMap((id) => this.#held.get(id) ?? []);
    if (group.crashes.length >= MAX_CRASHES) {
      group.crashes = [];
      const during = culprit === LOADING ? " while the DAG file was loaded" : "";
      const message = `the process of its triggers ended ${MAX_CRASHES} times within a minute; the last time it ${why}${during}`;
      for (const held of others) this.#end(held, failed("TriggerProcessDied", message));
    } else if (others.length > 0) {
      this.#run(group.artifactHash, others).catch((error: unknown) =>
        this.#deps.log.warn({ cause: messageOf(error) }, "triggers could not be started; they are tried again"),
      );
    }
  }

  #groupOf(held: Held): Group | undefined {
    return held.attempt === undefined ? undefined : this.#groups.get(held.attempt.artifactHash);
  }

  #forget(id: number, held: Held): boolean {
    if (this.#held.get(id) !== held) return false;
    this.#held.delete(id);
    const group = this.#groupOf(held);
    group?.ids.delete(id);
    if (group !== undefined && group.ids.size === 0) this.#rest(group);
    return true;
  }

  /** Keeps the process for a while: more triggers of the same DAG may come. */
  #rest(group: Group): void {
    clearTimeout(group.idle);
    group.idle = setTimeout(() => {
      if (group.ids.size > 0 || this.#groups.get(group.artifactHash) !== group) return;
      this.#groups.delete(group.artifactHash);
      void group.process?.kill();
    }, this.#deps.idleMs ?? IDLE_MS);
    group.idle.unref();
  }
}

/** The database, and not the artifact, is at fault. */
function isOutage(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return (
    (typeof code === "string" && /^(08|57P|53|ECONN|EPIPE|ETIMEDOUT)/.test(code)) ||
    (typeof message === "string" && /^(Connection terminated|timeout exceeded when trying to connect)/.test(message))
  );
}
