// One run of a DAG in this process, without any service: the deciders are those of the scheduler, the handlers those of
// the artifact, and what lies between them, which in production is Postgres, the queue and the workers, is this loop.
// INVARIANT: a state is changed only by #set, and only after a decider or an outcome said so.
import type { Artifact, RunRequest, TaskOutcome, Waited } from "../../runtime/index.ts";
import { sleep } from "../../runtime/sleep.ts";
import type { DagSpec } from "../../spec/index.ts";
import {
  buildDagGraph,
  decideChanges,
  failFast,
  hasTryLeft,
  inferManualInterval,
  jitterOf,
  judgeRun,
  retryDelaySeconds,
  type DagGraph,
  type Expansion,
} from "@millrace/shared/model";
import { MemoryStore } from "./memory-store.ts";
import { inputsOf, instancesOf, knownOf, nameOf, type MappedRun } from "./mapped-tasks.ts";
import { outcomeOfEnd } from "./outcome-of-end.ts";
import { runAttempt, type Attempt } from "./run-attempt.ts";
import { waitForTrigger } from "./wait-for-trigger.ts";
import { newTask, type InProcessOptions, type InProcessResult, type TestTask } from "./test-run.ts";

const DAY = 86_400;

/** Runs every task to its end. Never rejects for what a task does; its errors are in the result. */
export const runInProcess = (artifact: Artifact, spec: DagSpec, options: InProcessOptions): Promise<InProcessResult> =>
  new TestRun(artifact, spec, options).run();

class TestRun {
  readonly #artifact: Artifact;
  readonly #spec: DagSpec;
  readonly #options: InProcessOptions;
  readonly #graph: DagGraph;
  readonly #store: MemoryStore;
  readonly #runId: string;
  readonly #now = Date.now();
  /** By name: the unexpanded task as its id, an instance with its index. */
  readonly #tasks: Map<string, TestTask>;
  /** What is under way by name of the task instance: tries, and waits for the next one. */
  readonly #running = new Map<string, Promise<void>>();
  readonly #waiting = new Map<string, Promise<void>>();
  /** Ends every try under way. */
  readonly #stop = new AbortController();
  /** Ends the try of one task instance. */
  readonly #stops = new Map<string, AbortController>();

  constructor(artifact: Artifact, spec: DagSpec, options: InProcessOptions) {
    this.#artifact = artifact;
    this.#spec = spec;
    this.#options = options;
    this.#graph = buildDagGraph(spec, options.maxMapLength);
    this.#store = options.store ?? new MemoryStore();
    this.#runId = options.runId ?? `manual__${new Date(options.logicalDate ?? this.#now).toISOString()}`;
    this.#tasks = new Map(spec.tasks.map((task) => [task.taskId, newTask(task.taskId)]));
  }

  async run(): Promise<InProcessResult> {
    const begin = performance.now();
    const { signal } = this.#options;
    const onAbort = () => this.#stop.abort(new Error("the run was interrupted"));
    if (signal?.aborted === true) onAbort();
    signal?.addEventListener("abort", onAbort);
    while (!this.#stop.signal.aborted) {
      this.#decide();
      this.#startScheduled();
      const pending = [...this.#running.values(), ...this.#waiting.values()];
      if (pending.length === 0) break;
      await Promise.race(pending);
    }
    await Promise.all([...this.#running.values(), ...this.#waiting.values()]);
    signal?.removeEventListener("abort", onAbort);
    const tasks = [...this.#tasks.values()];
    const verdict = judgeRun(this.#graph, tasks);
    return {
      runId: this.#runId,
      state: verdict.kind === "success" ? "success" : "failed",
      verdict,
      wasAborted: this.#stop.signal.aborted,
      tasks,
      durationMs: performance.now() - begin,
    };
  }

  #decide(): void {
    this.#failFast();
    let decided = decideChanges(this.#graph, knownOf(this.#mapped()), this.#graph.tasks.keys());
    while (decided.expansions.length > 0) {
      for (const expansion of decided.expansions) this.#expand(expansion);
      decided = decideChanges(this.#graph, knownOf(this.#mapped()), this.#graph.tasks.keys());
    }
    for (const { ti, to, reason } of decided.changes) {
      this.#set(nameOf(ti), { state: to, reason: reason === "" ? undefined : reason });
    }
  }

  #mapped(): MappedRun {
    return { graph: this.#graph, store: this.#store, dagId: this.#spec.dagId, runId: this.#runId, tasks: this.#tasks };
  }

  #expand(expansion: Expansion<TestTask>): void {
    const instances = instancesOf(expansion);
    const [first] = instances;
    if (first === undefined)
      throw new Error(`${this.#spec.dagId}: a mapped task cannot be ${expansion.kind}ed in a run of its own`);
    this.#tasks.delete(first.taskId);
    for (const task of instances) this.#tasks.set(nameOf(task), task);
  }

  #failFast(): void {
    const end = failFast(this.#graph, [...this.#tasks.values()]);
    for (const task of end?.skip ?? []) this.#set(nameOf(task), { state: "skipped", reason: end?.reason });
    for (const task of end?.stop ?? []) this.#stops.get(nameOf(task))?.abort(new Error(end?.reason));
  }

  #startScheduled(): void {
    const weight = (task: TestTask) => this.#graph.tasks.get(task.taskId)?.priorityWeight ?? 0;
    const ready = [...this.#tasks.values()]
      .filter((task) => task.state === "scheduled" || this.#beginsWithWait(task))
      .toSorted((a, b) => weight(b) - weight(a));
    for (const name of ready.map(nameOf).slice(0, (this.#options.concurrency ?? 16) - this.#atWork())) {
      this.#running.set(
        name,
        this.#attempt(name).finally(() => this.#running.delete(name)),
      );
    }
  }

  /** A task that the deciders deferred, because it begins with its trigger. */
  #beginsWithWait(task: TestTask): boolean {
    return task.state === "deferred" && !this.#running.has(nameOf(task));
  }

  /** A task that waits holds no place. */
  #atWork(): number {
    return [...this.#running.keys()].filter((name) => this.#task(name).state === "running").length;
  }

  async #attempt(name: string): Promise<void> {
    const { tryNumber, state } = this.#task(name);
    this.#set(name, {
      state: state === "deferred" ? "deferred" : "running",
      tryNumber: tryNumber + 1,
      error: undefined,
    });
    const begin = performance.now();
    const outcome = await this.#runOnce(name);
    this.#finish(name, outcome, performance.now() - begin);
  }

  async #runOnce(name: string): Promise<TaskOutcome> {
    const spec = this.#specOf(name);
    const { logicalDate, conf = {}, maxXComBytes } = this.#options;
    const { taskId, mapIndex } = this.#task(name);
    const key = { dagId: this.#spec.dagId, runId: this.#runId, taskId, mapIndex };
    const interval =
      this.#options.interval ?? (logicalDate === null ? null : inferManualInterval(this.#spec.schedule, logicalDate));
    const iso = (at: number | null | undefined) =>
      at === null || at === undefined ? null : new Date(at).toISOString();
    this.#store.forget(key);
    const own = new AbortController();
    this.#stops.set(name, own);
    const node = this.#graph.tasks.get(taskId);
    if (node === undefined) throw new Error(`DAG ${this.#spec.dagId} has no task ${taskId}`);
    let inputs: Awaited<ReturnType<typeof inputsOf>>;
    try {
      inputs = await inputsOf(this.#mapped(), node, mapIndex);
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      return { kind: "failed", retryable: false, error: { name: error.name, message: error.message } };
    }
    const outcome = await this.#untilEnd(
      name,
      {
        ...key,
        tryNumber: this.#task(name).tryNumber,
        maxTries: spec.retries,
        logicalDate: iso(logicalDate),
        dataIntervalStart: iso(interval?.start),
        dataIntervalEnd: iso(interval?.end),
        runAfter: new Date(Math.max(this.#now, logicalDate ?? 0)).toISOString(),
        runType: "manual",
        conf,
        params: { ...this.#spec.params, ...conf },
        ...inputs,
        ...(maxXComBytes === undefined ? {} : { maxXComBytes }),
      },
      AbortSignal.any([this.#stop.signal, own.signal]),
    );
    // An event that ends its task is its value, and is pushed as any other.
    if (outcome.kind === "success" && outcome.returnValue !== undefined && spec.doXcomPush) {
      this.#store.setXCom({ ...key, key: "return_value" }, outcome.returnValue);
    }
    return outcome;
  }

  /** One try, over its reschedules and deferrals. */
  async #untilEnd(name: string, request: RunRequest, signal: AbortSignal): Promise<TaskOutcome> {
    const { executionTimeout, startTrigger } = this.#specOf(name);
    const begin = performance.now();
    const log = (...line: Parameters<Attempt["log"]>) => this.#options.onLog?.(this.#task(name), ...line);
    let reschedules = 0;
    let outcome: TaskOutcome | undefined =
      startTrigger !== undefined && this.#task(name).state === "deferred"
        ? { kind: "deferred", state: null, ...startTrigger }
        : undefined;
    for (let resumed: Waited["resumed"]; ; this.#set(name, { state: "running" })) {
      const seconds = (performance.now() - begin) / 1000;
      const waited = { seconds, reschedules, ...(resumed === undefined ? {} : { resumed }) };
      outcome ??= await runAttempt({
        ...{ artifact: this.#artifact, store: this.#store, executionTimeout, signal, log },
        request: resumed === undefined && reschedules === 0 ? request : { ...request, waited },
      });
      if (outcome.kind === "rescheduled") {
        this.#set(name, { state: "up_for_reschedule" });
        reschedules++;
        resumed = undefined;
        // An interrupt is told to the attempt that follows, which ends at once.
        await sleep(outcome.delaySeconds, signal).catch(() => undefined);
      } else if (outcome.kind === "deferred") {
        this.#set(name, { state: "deferred" });
        const { inputs: _inputs, ...attempt } = request;
        const hostOf = (ends: AbortSignal) => this.#store.hostOf(ends, log);
        const event = await waitForTrigger({ artifact: this.#artifact, wait: outcome, attempt, hostOf, signal });
        if (event.kind === "end") return outcomeOfEnd(event);
        if (event.kind === "event" && outcome.onEvent === "end") return { kind: "success", returnValue: event.payload };
        resumed = { event, state: outcome.state };
      } else {
        return outcome;
      }
      outcome = undefined;
    }
  }

  #finish(name: string, outcome: TaskOutcome, durationMs: number): void {
    if (outcome.kind === "success") {
      return this.#set(name, { state: "success", durationMs, branchDecision: outcome.branch ?? null });
    }
    if (outcome.kind === "skipped") {
      return this.#set(name, { state: "skipped", durationMs, reason: outcome.message });
    }
    if (outcome.kind !== "failed") throw new Error(`${name} ended while it waited`);
    const { tryNumber } = this.#task(name);
    const spec = this.#specOf(name);
    const tryAgain = hasTryLeft({ tryNumber, maxTries: spec.retries, retryable: outcome.retryable });
    if (tryAgain && !this.#stop.signal.aborted) {
      this.#set(name, { state: "up_for_retry", isDue: false, durationMs, error: outcome.error });
      const wait = this.#waitForRetry(name).finally(() => this.#waiting.delete(name));
      this.#waiting.set(name, wait);
      return;
    }
    this.#set(name, { state: "failed", durationMs, error: outcome.error });
  }

  async #waitForRetry(name: string): Promise<void> {
    const { tryNumber } = this.#task(name);
    const jitter = jitterOf(`${this.#spec.dagId}#${this.#task(name).taskId}#${this.#runId}#${tryNumber}`);
    const seconds = retryDelaySeconds(this.#specOf(name), tryNumber, jitter, this.#options.maxRetryDelay ?? DAY);
    await this.#options.waitForRetry?.(seconds, this.#stop.signal);
    this.#tasks.set(name, { ...this.#task(name), isDue: true });
  }

  #set(name: string, change: Partial<TestTask>): void {
    const task = { ...this.#task(name), ...change };
    this.#tasks.set(name, task);
    this.#options.onChange?.(task, [...this.#tasks.values()]);
  }

  #task(name: string): TestTask {
    return this.#tasks.get(name) ?? newTask(name);
  }

  #specOf(name: string): DagSpec["tasks"][number] {
    const { taskId } = this.#task(name);
    const node = this.#graph.tasks.get(taskId);
    if (node === undefined) throw new Error(`DAG ${this.#spec.dagId} has no task ${taskId}`);
    return node.spec;
  }
}
