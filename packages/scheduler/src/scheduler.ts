// The scheduler's loop: takes wakes, and in one transaction looks at the runs they name, writes what follows and queues
// what the limits allow; then sends it to the broker. Between wakes it looks for due runs, due retries and, slowly, at
// every active run. Any number of schedulers share the work through row locks; none holds state that another needs.
import {
  DagVersions,
  Job,
  lockRuns,
  lockRunsToSweep,
  pauseFailingDags,
  runsAfterOver,
  runsWithDueTasks,
  type FinishedRun,
  type LockedRun,
} from "@millrace/shared/db";
import { messageOf } from "@millrace/shared/errors";
import { crashPoint, systemClock, type Clock, type Service } from "@millrace/shared/lifecycle";
import type { Wake } from "@millrace/shared/queue";
import { NOTHING_QUEUED, queueScheduledTasks } from "./critical-section/queue-scheduled-tasks.ts";
import type { ActorDeps, SchedulerDeps } from "./deps.ts";
import { Dispatcher } from "./dispatch/dispatcher.ts";
import { BackfillFiller, closeBackfills } from "./runs/backfill-filler.ts";
import { Recovery } from "./recovery/recovery.ts";
import { createAssetRuns } from "./runs/create-asset-runs.ts";
import { createPartitionRuns } from "./runs/create-partition-runs.ts";
import { createDueRuns } from "./runs/create-due-runs.ts";
import { decideExamined, lookedAt, readWhole, writeExamined, type Target } from "./runs/examine-runs.ts";
import { LargeTasks, type Named } from "./runs/large-tasks.ts";
import { LookSize } from "./runs/look-size.ts";
import { NOTHING_STARTED, startQueuedRuns } from "./runs/start-queued-runs.ts";

const PAUSE_AFTER_FAILURE_MS = 250;
const BUSY_WAKES = 8;
const BUSY_REST_MS = 8;
// When workers have enough before them.
const FULL_REST_MS = 20;

export class Scheduler implements Service {
  readonly #deps: SchedulerDeps;
  readonly #clock: Clock;
  readonly #versions: DagVersions;
  readonly #dispatcher: Dispatcher;
  readonly #job: Job;
  readonly #filler: BackfillFiller;
  readonly #recovery: Recovery;
  readonly #large: LargeTasks;
  readonly #lookSize: LookSize;
  #loop: Promise<void> | undefined;
  #stopping = false;
  /** When the next look for due work is, on the process's clock. */
  #nextTick = 0;
  /** More runs are due for a look at the whole of them than the last pass took. */
  #sweepAgain = false;
  /** Runs may have become startable: looked for with the next pass. */
  #lookForQueuedRuns = true;
  /** Blocked work stood before other work when it was last read, since the last tick. */
  #isBlocked = false;
  /** The last pass queued all that may be under parallelism, and that was little. */
  #isFull = false;

  /** Assets ask for runs that had no room when they were last looked at. */
  #assetsWait = false;
  /** There may be room for them: looked at with the next pass. */
  #lookForAssets = false;

  constructor(deps: SchedulerDeps) {
    this.#deps = deps;
    this.#clock = deps.clock ?? systemClock;
    this.#large = new LargeTasks(this.#clock);
    this.#versions = new DagVersions(deps.db, undefined, deps.config.core.max_map_length);
    this.#dispatcher = new Dispatcher(deps.broker, deps.log);
    this.#filler = new BackfillFiller(deps, this.#versions);
    const { scheduler } = deps.config;
    this.#lookSize = new LookSize(scheduler.max_dagruns_per_loop_to_schedule);
    this.#job = new Job({
      db: deps.db,
      type: "SchedulerJob",
      heartbeatSeconds: scheduler.scheduler_heartbeat_sec,
      log: deps.log,
    });
    this.#recovery = new Recovery({
      ...deps,
      dispatcher: this.#dispatcher,
      clock: this.#clock,
      jobId: () => this.#job.id,
      transaction: (actor) => this.#transaction(actor),
    });
  }

  async start(): Promise<void> {
    if (this.#loop !== undefined) return;
    await this.#job.start();
    if (this.#stopping) return;
    this.#deps.broker.onReconnect(() => {
      // The broker may have been emptied while it was away.
      this.#recovery.sendAgain(0).catch((error: unknown) => {
        this.#deps.log.warn({ cause: messageOf(error) }, "queued attempts could not be sent again");
      });
    });
    await this.#recovery.start();
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#deps.broker.interruptTake();
    await this.#loop;
    this.#deps.broker.wake(this.#large.handOver());
    await this.#recovery.stop();
    await this.#filler.stop();
    await this.#dispatcher.drain();
    await this.#job.stop();
  }

  async #run(): Promise<void> {
    const idleMs = this.#deps.config.scheduler.scheduler_idle_sleep_time * 1000;
    let again = true;
    let wakes: readonly Wake[] = [];
    let wakesBefore = 0;
    while (!this.#stopping) {
      try {
        const next = Math.min(this.#nextTick, this.#large.nextAt) - this.#clock.now();
        const wait = again ? 1 : Math.max(1, Math.min(idleMs, next));
        // In a flood fewer and larger passes: what one costs by itself is shared by more tasks.
        const rest = this.#isFull ? FULL_REST_MS : BUSY_REST_MS;
        if (wakesBefore >= BUSY_WAKES) await new Promise<void>((resolve) => this.#clock.after(rest, resolve));
        // Those of a pass that failed are still to be looked at.
        wakes = [...wakes, ...(await this.#deps.broker.takeWakes(wait))];
        again = await this.#pass(wakes);
        wakesBefore = wakes.length;
        wakes = [];
      } catch (error) {
        this.#deps.log.error({ cause: messageOf(error) }, "a scheduling pass failed; the next one follows");
        again = false;
        await new Promise<void>((resolve) => this.#clock.after(PAUSE_AFTER_FAILURE_MS, resolve));
      }
    }
  }

  /** One pass. True when there is more to do at once. */
  async #pass(wakes: readonly Wake[]): Promise<boolean> {
    const { scheduler } = this.#deps.config;
    const now = this.#clock.now();
    const isTick = now >= this.#nextTick;
    const isSweep = isTick || this.#sweepAgain;
    if (isTick) {
      this.#nextTick = now + scheduler.scheduler_idle_sleep_time * 1000;
      this.#isBlocked = false;
    }
    const isCalled = isTick || wakes.some((wake) => wake.dagRunId === null);
    if (isCalled) {
      this.#lookForQueuedRuns = true;
      this.#filler.look();
    }

    let more = false;
    if (isTick) {
      const due = await this.#transaction(createDueRuns);
      if (due.created > 0) crashPoint("scheduler.created");
      more = due.more;
    }
    if (isCalled || this.#lookForAssets) {
      this.#lookForAssets = false;
      const plain = await this.#transaction(createAssetRuns);
      const byKey = await this.#transaction(createPartitionRuns);
      this.#assetsWait = plain.waiting || byKey.waiting;
      if (plain.created + byKey.created > 0) this.#lookForQueuedRuns = true;
    }
    const named = mergeWakes(wakes);
    if (isTick) await this.#addDueTasks(named);
    this.#large.sift(named, wakes);
    // A queued run that is named may have waited for what happened.
    const asWhole = [...named].flatMap(([id, tasks]) => (tasks === null ? [id] : []));
    const startRuns = this.#lookForQueuedRuns || asWhole.length > 0;
    this.#lookForQueuedRuns = false;
    const wholeAtOnce = this.#lookSize.runs;
    const outcome = await this.#transaction(async (deps) => {
      const again = { afterSeconds: this.#lookAgainSeconds, named: asWhole, atMost: wholeAtOnce };
      const started = startRuns ? await startQueuedRuns(deps, again) : NOTHING_STARTED;
      const { targets, waiting, swept } = await this.#targets(deps, named, isSweep ? wholeAtOnce : 0);
      const decided = await decideExamined(deps, targets);
      const mayQueue = isTick || isSweep || wakes.length > 0 || targets.length > 0 || started.scheduled > 0;
      // Each sends its first statement at once, so that both travel together and in this order.
      const [examined, queueing] = await Promise.all([
        writeExamined(deps, decided),
        mayQueue ? queueScheduledTasks(deps, this.#job.id, this.#isBlocked) : NOTHING_QUEUED,
      ]);
      return { started, examined, queueing, waiting, swept, looked: lookedAt(decided), whole: readWhole(decided) };
    });
    this.#lookSize.note([...outcome.started.looked, ...outcome.whole]);
    this.#large.looked(named, outcome.looked);
    const queued = await outcome.queueing.attempts;
    this.#isBlocked = outcome.queueing.isBlocked;
    this.#isFull = outcome.queueing.isFull;
    if (queued.length > 0) crashPoint("scheduler.queued");
    this.#dispatcher.dispatch(queued);
    const { started, examined, waiting } = outcome;
    this.#sweepAgain = isSweep && outcome.swept >= wholeAtOnce;
    this.#deps.broker.signalAttempts([...started.stopped, ...examined.stopped]);
    if (started.deferred + examined.deferred > 0) this.#deps.broker.callTriggerers();
    const next = new Set([...started.next, ...examined.next]);
    this.#deps.broker.wake([...[...next].map((dagRunId) => ({ dagRunId, taskIds: null })), ...waiting]);
    const finished = [...started.finished, ...examined.finished];
    await this.#pauseFailing(finished);
    if (isSweep || finished.some((run) => run.backfillId !== null)) await closeBackfills(this.#deps);
    if (finished.length > 0 || started.started > 0 || started.more) this.#lookForQueuedRuns = true;
    if (finished.length > 0 && this.#assetsWait) this.#lookForAssets = true;
    return more || this.#lookForQueuedRuns || this.#sweepAgain || queued.length >= scheduler.max_tis_per_query;
  }

  /** After the commit: a dag row comes before its runs in the order of locks. */
  async #pauseFailing(finished: readonly FinishedRun[]): Promise<void> {
    const failed = new Set(finished.filter((run) => run.state === "failed").map((run) => run.dagId));
    if (failed.size === 0) return;
    for (const { dagId } of await this.#deps.db.run(pauseFailingDags, [[...failed]])) {
      this.#deps.log.warn({ dag: dagId }, "a DAG was paused: its newest runs have all failed");
    }
  }

  /** What this pass looks at; `waiting` is for those that may wait for a run that is over. */
  async #targets(
    deps: ActorDeps,
    named: ReadonlyMap<number, Set<string> | null>,
    sweepAtMost: number,
  ): Promise<Looked> {
    const asTarget = (run: LockedRun, changed: Set<string> | null): Target => ({
      run,
      changed: changed === null ? null : [...changed],
    });
    const ids = [...named.keys()].sort((a, b) => a - b);
    const locked = ids.length === 0 ? [] : await deps.tx.run(lockRuns, [ids]);
    const targets = locked.map((run) => asTarget(run, named.get(run.id) ?? null));
    const known = new Set(locked.map((run) => run.id));
    const waiting = await waitingForPast(
      deps,
      ids.filter((id) => !known.has(id)),
    );
    if (sweepAtMost === 0) return { targets, waiting, swept: 0 };
    const swept = await deps.tx.run(lockRunsToSweep, [this.#lookAgainSeconds, sweepAtMost]);
    const whole = new Set(swept.map((run) => run.id));
    return {
      targets: [...targets.filter(({ run }) => !whole.has(run.id)), ...swept.map((run) => asTarget(run, null))],
      waiting,
      swept: swept.length,
    };
  }

  /** Looked for with each tick, so that no run goes longer than the interval without a look at the whole of it. */
  get #lookAgainSeconds(): number {
    const { sweep_interval: interval, scheduler_idle_sleep_time: tick } = this.#deps.config.scheduler;
    return Math.max(interval / 2, interval - tick);
  }

  async #addDueTasks(named: Named): Promise<void> {
    for (const row of await this.#deps.db.run(runsWithDueTasks, [1_000])) {
      const tasks = named.get(row.dagRunId);
      if (tasks === undefined) named.set(row.dagRunId, new Set([row.taskId]));
      else tasks?.add(row.taskId);
    }
  }

  async #transaction<T>(actor: (deps: ActorDeps) => Promise<T>): Promise<T> {
    const { db, config, log } = this.#deps;
    return await db.transaction(async (tx) => await actor({ tx, versions: this.#versions, config, log }));
  }
}

interface Looked {
  readonly targets: readonly Target[];
  readonly waiting: readonly Wake[];
  readonly swept: number;
}

/** A task may end after its run, as one does that was stopped when the run was marked: nobody else tells who waits for it. */
async function waitingForPast(deps: ActorDeps, over: readonly number[]): Promise<Wake[]> {
  if (over.length === 0) return [];
  const next = await deps.tx.run(runsAfterOver, [over]);
  const graphs = await deps.versions.load(
    next.map((run) => run.versionId),
    deps.tx,
  );
  return next
    .filter((run) => (graphs.get(run.versionId)?.pastTasks.length ?? 0) > 0)
    .map((run) => ({ dagRunId: run.id, taskIds: null }));
}

function mergeWakes(wakes: readonly Wake[]): Named {
  const merged: Named = new Map();
  for (const { dagRunId, taskIds } of wakes) {
    if (dagRunId === null) continue;
    const known = merged.get(dagRunId);
    if (known === null) continue;
    if (taskIds === null) merged.set(dagRunId, null);
    else if (known === undefined) merged.set(dagRunId, new Set(taskIds));
    else for (const id of taskIds) known.add(id);
  }
  return merged;
}
