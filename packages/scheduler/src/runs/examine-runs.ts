// Looks at running runs where something happened and writes what follows: tasks become scheduled, skipped or
// upstream_failed, and a run with nothing left gets its verdict. Only what the change concerns is read; a run to be
// examined whole (the sweep) is read whole. The caller has locked the runs.
import type { TaskSpec } from "@millrace/sdk/spec";
import {
  applyDecisions,
  finishRuns,
  loadMappedTasks,
  loadPast,
  loadRuns,
  loadTasks,
  markAttempts,
  nextRuns,
  runsWithoutUnfinished,
  startFromTriggers,
  type FinishedRun,
  type LockedRun,
  type TaskInstanceSnapshot,
} from "@millrace/shared/db";
import {
  decideChanges,
  isFinished,
  judgeLeaves,
  judgeRun,
  type Change,
  type DagGraph,
  type Expansion,
  type PastView,
} from "@millrace/shared/model";
import { messageOf } from "@millrace/shared/errors";
import { Cipher, sealKept, triggerPlace } from "@millrace/shared/secrets";
import type { ActorDeps } from "../deps.ts";
import { addLists } from "./add-lists.ts";
import { applyFailFast } from "./apply-fail-fast.ts";
import { writeExpansions } from "./expand-cases.ts";
import type { LookedAt } from "./large-tasks.ts";

export interface Target {
  readonly run: LockedRun;
  /** Tasks that changed; null examines the whole run. */
  readonly changed: readonly string[] | null;
}

export interface Examined {
  /** Task instances that became scheduled. */
  readonly scheduled: number;
  /** Task instances that began with a wait. */
  readonly deferred: number;
  readonly finished: readonly FinishedRun[];
  /** Attempts that workers have to stop. */
  readonly stopped: readonly string[];
  /** Runs to look at next: they may have waited for what changed here. */
  readonly next: readonly number[];
}

export const NOTHING_EXAMINED: Examined = { scheduled: 0, deferred: 0, finished: [], stopped: [], next: [] };

/** One run under examination. */
export interface Case {
  readonly target: Target;
  readonly graph: DagGraph;
  readonly known: Map<string, TaskInstanceSnapshot[]>;
  past: PastView | undefined;
  changes: readonly Change<TaskInstanceSnapshot>[];
  /** Its rest was skipped, because its DAG fails fast. */
  isCutShort: boolean;
  /** For that it was read whole, whatever changed. */
  isReadAnew: boolean;
  /** Its examination failed: nothing of it is written. */
  isBroken: boolean;
  /** What becomes of mapped tasks before those changes are made. */
  expansions: readonly Expansion<TaskInstanceSnapshot>[];
}

/** What an examination decided, before any of it is written. */
export interface Decided {
  readonly cases: readonly Case[];
  readonly stopped: readonly string[];
}

export async function decideExamined(deps: ActorDeps, targets: readonly Target[]): Promise<Decided> {
  if (targets.length === 0) return { cases: [], stopped: [] };
  return await carryOn(deps, await openCases(deps, targets));
}

/**
 * Ends what a failure ends, and expands mapped tasks of which that is due: in this order, since what a failure ends is not
 * expanded any more. Whoever calls it has locked the runs.
 */
export async function carryOn(deps: ActorDeps, opened: readonly Case[]): Promise<Decided> {
  const stopped = await applyFailFast(deps, opened);
  return { cases: await expandCases(deps, opened), stopped };
}

/** The tasks whose instances were read, with their numbers, of runs in which any is mapped. */
export const lookedAt = ({ cases }: Decided): LookedAt[] =>
  cases
    .filter(({ graph }) => graph.isMapped)
    .flatMap(({ target, known }) =>
      [...known].map(([taskId, tis]) => ({
        dagRunId: target.run.id,
        taskId,
        size: countOf(tis),
        open: countOf(tis.filter(({ state }) => !isFinished(state))),
      })),
    );

/** The runs of which all task instances were read, and how many rows those are. */
export const readWhole = ({ cases }: Pick<Decided, "cases">): { readonly rows: number }[] =>
  cases
    .filter(({ target, isReadAnew }) => target.changed === null || isReadAnew)
    .map(({ known }) => ({ rows: [...known.values()].reduce((sum, tis) => sum + tis.length, 0) }));

const countOf = (tis: readonly TaskInstanceSnapshot[]): number => tis.reduce((sum, { count = 1 }) => sum + count, 0);

/** Sends its first statement before it waits for anything: what the caller sends next comes after it. */
export async function writeExamined(deps: ActorDeps, { cases, stopped }: Decided): Promise<Examined> {
  if (cases.length === 0) return NOTHING_EXAMINED;
  const [applied, finished, next] = await Promise.all([
    applyChanges(deps, cases),
    closeRuns(deps, cases),
    runsAfter(deps, cases),
  ]);
  return { ...applied, stopped, finished, next };
}

/** The runs after those in which something changed that they depend on, and those that a task of their own ends now. */
async function runsAfter(deps: ActorDeps, cases: readonly Case[]): Promise<number[]> {
  const failing = cases.filter((c) => c.graph.spec.failFast && c.changes.some(({ to }) => to === "failed"));
  const again = failing.map((c) => c.target.run.id);
  const told = cases.filter((c) => c.graph.pastTasks.length > 0 && hasChanged(c));
  if (told.length === 0) return again;
  return [...again, ...(await deps.tx.run(nextRuns, [told.map((c) => c.target.run.id)])).map((row) => row.id)];
}

const hasChanged = ({ target, changes, isCutShort }: Case) =>
  target.changed !== null || changes.length > 0 || isCutShort;

/** Reads what is needed and decides, without writing anything. */
export async function openCases(deps: ActorDeps, targets: readonly Target[]): Promise<Case[]> {
  const graphs = await deps.versions.load(
    targets.map((target) => target.run.versionId),
    deps.tx,
  );
  const cases = targets.flatMap((target): Case[] => {
    const graph = graphs.get(target.run.versionId);
    if (graph === undefined) {
      const { dagId: dag, runId: run, versionId } = target.run;
      if (deps.versions.isNewToSay(versionId))
        deps.log.error({ dag, run, cause: deps.versions.whyNot(versionId) }, "the DAG version of a run cannot be used");
      return [];
    }
    const nothing = {
      past: undefined,
      changes: [],
      expansions: [],
      isCutShort: false,
      isReadAnew: false,
      isBroken: false,
    };
    return [{ target, graph, known: new Map(), ...nothing }];
  });
  const past = await loadPast(
    deps.tx,
    cases.map((c) => ({ id: c.target.run.id, graph: c.graph })),
  );
  for (const c of cases) c.past = past.get(c.target.run.id);
  // A mapped task is read in its own way, task by task.
  const [whole, named] = partition(cases, (c) => c.target.changed === null && !c.graph.isMapped);
  await loadWhole(deps, whole);
  await loadMissing(deps, new Map(named.map((c) => [c, firstLook(c)])));
  await settle(deps, cases);
  return cases.filter((c) => !c.isBroken);
}

/** Expands mapped tasks, and decides anew what follows. */
async function expandCases(deps: ActorDeps, cases: readonly Case[]): Promise<readonly Case[]> {
  for (let open = cases; ;) {
    open = open.filter((c) => c.expansions.length > 0);
    if (open.length === 0) return cases.filter((c) => !c.isBroken);
    await writeExpansions(deps, open);
    await settle(deps, open);
  }
}

/** Decides, and reads what is still needed for that, until nothing is. */
async function settle(deps: ActorDeps, cases: readonly Case[]): Promise<void> {
  for (;;) {
    const wanted = new Map<Case, ReadonlySet<string>>();
    for (const c of cases) {
      const missing = decide(deps, c);
      if (missing.size > 0) wanted.set(c, missing);
    }
    if (wanted.size === 0) return;
    await loadMissing(deps, wanted);
  }
}

/** One run that cannot be decided must not keep the others of its pass from going on. */
function decide(deps: ActorDeps, c: Case): ReadonlySet<string> {
  try {
    const { changes, expansions, missing } = decideChanges(c.graph, c.known, candidatesOf(c), c.past);
    c.changes = changes;
    c.expansions = expansions;
    return missing;
  } catch (error) {
    const { dagId: dag, runId: run } = c.target.run;
    deps.log.error({ dag, run, cause: messageOf(error) }, "a run could not be examined; the others go on");
    c.isBroken = true;
    c.changes = [];
    c.expansions = [];
    return new Set();
  }
}

function partition<T>(all: readonly T[], belongs: (one: T) => boolean): readonly [T[], T[]] {
  return [all.filter(belongs), all.filter((one) => !belongs(one))];
}

const candidatesOf = ({ target, graph, isReadAnew }: Case): Iterable<string> =>
  target.changed === null || isReadAnew
    ? graph.tasks.keys()
    : target.changed.flatMap((id) => [id, ...(graph.tasks.get(id)?.watchedBy ?? [])]);

/** What a decision about the neighbours of the changed tasks reads, at the least. */
function firstLook(c: Case): Set<string> {
  if (c.target.changed === null) return new Set(c.graph.tasks.keys());
  const wanted = new Set<string>();
  for (const id of candidatesOf(c)) {
    wanted.add(id);
    if (c.target.changed?.includes(id) === true) continue;
    for (const watched of c.graph.tasks.get(id)?.watches ?? []) wanted.add(watched);
  }
  return wanted;
}

async function loadWhole(deps: ActorDeps, cases: readonly Case[]): Promise<void> {
  if (cases.length === 0) return;
  const rows = await deps.tx.run(loadRuns, [
    cases.map((c) => c.target.run.dagId),
    cases.map((c) => c.target.run.runId),
  ]);
  for (const c of cases) for (const id of c.graph.tasks.keys()) c.known.set(id, []);
  keep(cases, rows);
}

async function loadMissing(deps: ActorDeps, wanted: ReadonlyMap<Case, ReadonlySet<string>>): Promise<void> {
  const keys = [...wanted].flatMap(([c, ids]) => [...ids].map((id) => ({ c, run: c.target.run, id })));
  if (keys.length === 0) return;
  const [many, few] = partition(keys, ({ c, id }) => c.graph.isMapped && isMappedByItself(c, id));
  const load = async (statement: typeof loadTasks, of: typeof keys) =>
    of.length === 0
      ? []
      : await deps.tx.run(statement, [
          of.map((key) => key.run.dagId),
          of.map((key) => key.run.runId),
          of.map((key) => key.id),
        ]);
  const rows = await Promise.all([load(loadTasks, few), load(loadMappedTasks, many)]);
  for (const [c, ids] of wanted) for (const id of ids) c.known.set(id, []);
  keep([...wanted.keys()], rows.flat());
  await addLists(deps.tx, keys);
}

/** Of a task that is mapped by its group the instances are told apart: each is looked at by those of its own index. */
const isMappedByItself = ({ graph }: Case, id: string): boolean => {
  const node = graph.tasks.get(id);
  return node?.mapping !== undefined && node.mapGroup === undefined;
};

function keep(cases: readonly Case[], rows: readonly TaskInstanceSnapshot[]): void {
  const byRun = new Map(cases.map((c) => [c.target.run.id, c]));
  for (const row of rows) {
    const known = byRun.get(row.dagRunId)?.known;
    const same = known?.get(row.taskId);
    if (same === undefined) known?.set(row.taskId, [row]);
    else same.push(row);
  }
}

/** Writes the changes of all cases at once, in the order of ids, and tells how many became scheduled, or wait. */
async function applyChanges(deps: ActorDeps, cases: readonly Case[]): Promise<{ scheduled: number; deferred: number }> {
  const all = cases
    .flatMap((c) => c.changes.map((change) => ({ ...change, spec: c.graph.tasks.get(change.ti.taskId)?.spec })))
    .sort((a, b) => (a.ti.id < b.ti.id ? -1 : 1));
  const isWait = (change: (typeof all)[number]) => change.to === "deferred";
  const isFailure = (change: (typeof all)[number]) => change.to === "failed";
  const [scheduled, deferred] = await Promise.all([
    writeDecisions(
      deps,
      all.filter((change) => !isWait(change) && !isFailure(change)),
    ),
    writeWaits(deps, all.filter(isWait)),
    writeFailures(deps, all.filter(isFailure)),
  ]);
  return { scheduled, deferred };
}

type Written = Change<TaskInstanceSnapshot> & { readonly spec: TaskSpec | undefined };

async function writeDecisions(deps: ActorDeps, changes: readonly Written[]): Promise<number> {
  if (changes.length === 0) return 0;
  const applied = await deps.tx.run(applyDecisions, [
    changes.map((change) => change.ti.id),
    changes.map((change) => change.ti.epoch),
    changes.map((change) => change.ti.state),
    changes.map((change) => change.to),
  ]);
  const ids = new Set(applied.map((row) => row.id));
  return changes.filter((change) => change.to === "scheduled" && ids.has(change.ti.id)).length;
}

/** Tasks that cannot be expanded. */
async function writeFailures(deps: ActorDeps, changes: readonly Written[]): Promise<void> {
  if (changes.length === 0) return;
  for (const { ti, reason } of changes) deps.log.info({ task: ti.taskId, reason }, "a mapped task cannot be expanded");
  await deps.tx.run(markAttempts, [
    changes.map(({ ti }) => ti.id),
    changes.map(({ ti }) => ti.epoch),
    changes.map(() => "failed"),
    changes.map(({ reason }) => reason),
  ]);
}

/** Tasks that begin with a wait. */
async function writeWaits(deps: ActorDeps, changes: readonly Written[]): Promise<number> {
  const waits = changes.flatMap(({ ti, spec }) =>
    spec?.startTrigger === undefined ? [] : [{ ti, wait: spec.startTrigger }],
  );
  if (waits.length === 0) return 0;
  const cipher = Cipher.of(deps.config);
  const rows = await deps.tx.run(startFromTriggers, [
    waits.map(({ ti }) => ti.id),
    waits.map(({ ti }) => ti.epoch),
    waits.map(({ ti }) => ti.state),
    waits.map(({ wait }) => wait.trigger.name),
    waits.map(({ ti, wait }) => sealKept(cipher, JSON.stringify(wait.trigger.kwargs), triggerPlace(ti.id, null))),
    waits.map(({ wait }) => wait.trigger.queue ?? null),
    waits.map(({ wait }) => wait.onEvent),
    waits.map(({ wait }) => wait.timeoutSeconds ?? null),
  ]);
  return rows.length;
}

/** Gives their verdict to runs in which nothing is left to do, or nothing can ever be done. */
async function closeRuns(deps: ActorDeps, cases: readonly Case[]): Promise<FinishedRun[]> {
  const quiet = cases.filter((c) => !c.changes.some(({ to }) => to === "scheduled" || to === "deferred"));
  if (quiet.length === 0) return [];
  const ended = new Set(
    (await deps.tx.run(runsWithoutUnfinished, [quiet.map((c) => c.target.run.id)])).map((r) => r.id),
  );
  const done = quiet.filter((c) => ended.has(c.target.run.id));
  const leaves = new Map(done.map((c) => [c, new Set(c.graph.leaves)]));
  for (const c of done) c.known.clear();
  await loadMissing(deps, leaves);
  const verdicts = done.map((c) => ({ c, verdict: judgeLeaves([...c.known.values()].flat()) }));
  for (const c of quiet) {
    if (ended.has(c.target.run.id) || c.target.changed !== null || c.changes.length > 0) continue;
    const verdict = judgeRun(c.graph, [...c.known.values()].flat(), c.past);
    if (verdict.kind !== "open") verdicts.push({ c, verdict });
  }
  const closed = verdicts.filter(({ verdict }) => verdict.kind !== "open");
  if (closed.length === 0) return [];
  for (const { c, verdict } of closed) {
    if (verdict.kind === "failed") {
      deps.log.info(
        { dag: c.target.run.dagId, run: c.target.run.runId, reason: verdict.reason, tasks: verdict.taskIds },
        "run failed",
      );
    }
  }
  return await deps.tx.run(finishRuns, [
    closed.map(({ c }) => c.target.run.id),
    closed.map(({ verdict }) => verdict.kind),
    closed.map(({ verdict }) => (verdict.kind === "failed" ? verdict.reason : verdict.kind)),
  ]);
}
