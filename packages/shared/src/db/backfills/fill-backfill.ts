// The next dates of a backfill become runs, in one transaction that the caller opens: new runs, runs that exist and are
// run again, or the reason why a date gets none. INVARIANT: a date is pending until the transaction that settles it, so a
// crash at any point leaves dates that the next scheduler comes to, and none twice.
// The batch is bounded by task instances: a lock on the backfill is held for a fraction of a second only.
import { judgeDate, type DagGraph } from "../../model/index.ts";
import { createRuns, type NewRun } from "../create-runs.ts";
import type { DagVersions } from "../dag-versions.ts";
import type { Queryable } from "../database.ts";
import { clearTargets } from "../operations/clear-tasks.ts";
import { findTargets } from "../operations/find-targets.ts";
import { moveToNewest } from "../operations/move-to-newest.ts";
import { adoptRuns } from "../statements/adopt-runs.ts";
import {
  lockBackfillToFill,
  pendingDates,
  settleDates,
  type BackfillToFill,
  type PendingDate,
} from "../statements/fill-backfill.ts";
import { requeueRuns } from "../statements/requeue-runs.ts";
import { lockRunsOfDates, takenRunIds, type RunOfDate } from "../statements/runs-of-dates.ts";

const DATES_AT_ONCE = 250;
const TASK_INSTANCES_AT_ONCE = 2_000;

export interface FilledBackfill {
  readonly id: number;
  readonly dagId: string;
  /** Runs that are queued now. */
  readonly runs: number;
  /** Attempts that workers have to stop. */
  readonly stopped: readonly string[];
}

interface Settled {
  readonly id: number;
  readonly dagRunId: number | null;
  readonly reason: string | null;
}

/**
 * Undefined: no backfill has dates to come to that nobody else is at. `except` leaves backfills out; `onTaken` is told
 * which one was taken before anything of it can fail.
 */
export async function fillBackfill(
  tx: Queryable,
  versions: DagVersions,
  except: readonly number[],
  onTaken: (id: number) => void,
): Promise<FilledBackfill | undefined> {
  const [backfill] = await tx.run(lockBackfillToFill, [except]);
  if (backfill === undefined) return undefined;
  const { id, dagId } = backfill;
  onTaken(id);
  const graph = (await versions.load([backfill.versionId], tx)).get(backfill.versionId);
  if (graph === undefined) throw new Error(`the newest version of ${dagId} is gone`);
  const atOnce = Math.max(
    1,
    Math.min(DATES_AT_ONCE, Math.floor(TASK_INSTANCES_AT_ONCE / Math.max(1, graph.tasks.size))),
  );
  const dates = await tx.run(pendingDates, [id, atOnce]);
  const existing = new Map(
    (await tx.run(lockRunsOfDates, [dagId, dates.map((date) => date.logicalDate)])).map((run) => [
      run.logicalDate.getTime(),
      run,
    ]),
  );
  const judged = dates.map((date) => {
    const run = existing.get(date.logicalDate.getTime());
    return { date, run, verdict: judgeDate(run?.state, backfill.reprocessBehavior) };
  });
  const created = await create(
    tx,
    backfill,
    graph,
    judged.flatMap(({ date, verdict }) => (verdict === "create" ? [date] : [])),
  );
  const again = judged.flatMap(({ run, verdict }) => (verdict === "reprocess" && run !== undefined ? [run] : []));
  const stopped = await reprocess(tx, versions, backfill, again);
  const settled = judged.flatMap(({ date, run, verdict }): Settled[] => {
    const as = (dagRunId: number | null, reason: string | null) => [{ id: date.id, dagRunId, reason }];
    if (verdict === "create") {
      const dagRunId = created.get(date.id);
      // RACE: the schedule has made a run of that date just now. It exists when the date is come to again.
      return dagRunId === undefined ? [] : as(dagRunId, null);
    }
    if (verdict !== "reprocess") return as(null, verdict);
    return run?.versionId == null ? as(null, "unknown") : as(run.id, null);
  });
  await tx.run(settleDates, [
    settled.map((date) => date.id),
    settled.map((date) => date.dagRunId),
    settled.map((date) => date.reason),
  ]);
  return { id, dagId, runs: settled.filter((date) => date.dagRunId !== null).length, stopped };
}

/** Gives the runs that were created by the ids of their dates. */
async function create(
  tx: Queryable,
  backfill: BackfillToFill,
  graph: DagGraph,
  dates: readonly PendingDate[],
): Promise<ReadonlyMap<number, number>> {
  if (dates.length === 0) return new Map();
  const idOf = (date: PendingDate) => `backfill__${date.runAfter.toISOString().replace(/(\.000)?Z$/, "+00:00")}`;
  const taken = new Set((await tx.run(takenRunIds, [backfill.dagId, dates.map(idOf)])).map((run) => run.runId));
  const runIds = new Map(
    dates.map((date) => [taken.has(idOf(date)) ? `${idOf(date)}_${date.id}` : idOf(date), date.id]),
  );
  const idsOf = new Map([...runIds].map(([runId, id]) => [id, runId]));
  const created = await createRuns(
    tx,
    dates.map((date): NewRun => ({
      graph,
      versionId: backfill.versionId,
      runId: idsOf.get(date.id) ?? idOf(date),
      runType: "backfill",
      logicalDate: date.logicalDate.getTime(),
      interval: { start: date.intervalStart.getTime(), end: date.intervalEnd.getTime() },
      runAfter: date.runAfter.getTime(),
      conf: backfill.conf,
      triggeredBy: "backfill",
      user: backfill.user,
      backfillId: backfill.id,
    })),
  );
  return new Map(
    created.flatMap((run) => {
      const date = runIds.get(run.runId);
      return date === undefined ? [] : [[date, run.id] as const];
    }),
  );
}

/** Clears whole runs, as by hand, and takes them into the backfill. Gives the attempts that workers have to stop. */
async function reprocess(
  tx: Queryable,
  versions: DagVersions,
  backfill: BackfillToFill,
  runs: readonly RunOfDate[],
): Promise<readonly string[]> {
  const known = runs.filter((run) => run.versionId !== null);
  if (known.length === 0) return [];
  const runIds = known.map((run) => run.runId);
  const found = await findTargets(tx, versions, { dagId: backfill.dagId, runIds }, true);
  const targets = backfill.runOnLatestVersion ? await moveToNewest(tx, found) : found;
  const { stopped, dagRunIds } = await clearTargets(tx, targets, targets.tasks, {
    user: `backfill ${backfill.id}`,
  });
  const cleared = new Set(dagRunIds);
  const empty = known.map((run) => run.id).filter((id) => !cleared.has(id));
  if (empty.length > 0) await tx.run(requeueRuns, [empty]);
  await tx.run(adoptRuns, [known.map((run) => run.id), backfill.id]);
  return stopped;
}
