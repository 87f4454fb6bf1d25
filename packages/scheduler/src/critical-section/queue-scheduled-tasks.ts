// scheduled → queued, within every limit, by priority: one scheduler at a time. The lock comes first and the reading
// after it in a statement of its own, so that nothing queued by another is missed. Runs at the end of the caller's
// transaction, so that the lock is held for the shortest time.
import {
  lockCriticalSection,
  queueTasks,
  readAdmission,
  readAdmissionInOrder,
  type AdmissionRow,
  type QueuedAttempt,
} from "@millrace/shared/db";
import { crashPoint } from "@millrace/shared/lifecycle";
import { admit } from "@millrace/shared/model";
import type { ActorDeps } from "../deps.ts";

const EVERY_CANDIDATE = 1_000_000;
/** Of what may be queued and running. */
const FEW = 0.25;

export interface Queueing {
  /** The answer of the last statement: it is on its way, and the commit may be sent right behind it. */
  readonly attempts: Promise<readonly QueuedAttempt[]>;
  /** Blocked work stands before other work: the next reading goes by lanes at once. */
  readonly isBlocked: boolean;
  /** As many are queued and running as may be at all, and few of them had ended: workers have others before them. */
  readonly isFull: boolean;
}

export const NOTHING_QUEUED: Queueing = { attempts: Promise.resolve([]), isBlocked: false, isFull: false };

/**
 * Should the last statement fail, the commit is a rollback, and `attempts` rejects.
 * @param byLanes leaves out the cheaper reading, which finds little where work is blocked
 */
export async function queueScheduledTasks(deps: ActorDeps, schedulerJobId: number, byLanes = false): Promise<Queueing> {
  const { parallelism } = deps.config.core;
  const atMost = deps.config.scheduler.max_tis_per_query;
  const readLanes = async () => await deps.tx.run(readAdmission, [parallelism, atMost, EVERY_CANDIDATE]);
  const [, [first]] = await Promise.all([
    deps.tx.run(lockCriticalSection, []),
    byLanes ? readLanes() : deps.tx.run(readAdmissionInOrder, [parallelism, atMost, atMost]),
  ]);
  let admitted = first === undefined || first.scanned === 0 ? [] : await admitFrom(deps, first);
  let isBlocked = byLanes;
  // Some of the first are blocked, and others may stand behind them: then the head of every lane is looked at.
  if (
    first !== undefined &&
    !byLanes &&
    admitted.length < first.room &&
    first.scanned >= Math.min(first.room, atMost)
  ) {
    isBlocked = first.room > 0;
    const [heads] = await readLanes();
    if (heads !== undefined) admitted = await admitFrom(deps, heads);
  }
  const batch = admitted.slice(0, atMost);
  if (batch.length === 0) return { ...NOTHING_QUEUED, isBlocked };
  crashPoint("scheduler.locked");
  const attempts = deps.tx.run(queueTasks, [batch.map((c) => c.id), batch.map((c) => c.epoch), schedulerJobId]);
  // Awaited by the caller after the commit; should that fail first, this is no second, unhandled failure.
  attempts.catch(() => undefined);
  return {
    attempts,
    isBlocked,
    isFull: batch.length === first?.room && batch.length < Math.min(atMost, parallelism * FEW),
  };
}

async function admitFrom(
  deps: ActorDeps,
  snapshot: AdmissionRow,
): Promise<readonly AdmissionRow["candidates"][number][]> {
  const graphs = await deps.versions.load(
    snapshot.candidates.map((candidate) => candidate.versionId),
    deps.tx,
  );
  return admit({
    parallelism: deps.config.core.parallelism,
    pools: snapshot.pools,
    occupancy: snapshot.occupancy,
    // The limits of a task of which only newer schedulers can read are theirs to keep.
    candidates: snapshot.candidates.filter((candidate) => !deps.versions.isNewer(candidate.versionId)),
    limitsOf: (candidate) => ({
      maxActiveTasks: candidate.maxActiveTasks,
      ...limitsOfTask(graphs.get(candidate.versionId)?.tasks.get(candidate.taskId)?.spec),
    }),
  }).admitted;
}

const limitsOfTask = (spec: { maxActiveTisPerDag?: number; maxActiveTisPerDagrun?: number } | undefined) => ({
  maxActiveTisPerDag: spec?.maxActiveTisPerDag,
  maxActiveTisPerDagrun: spec?.maxActiveTisPerDagrun,
});
