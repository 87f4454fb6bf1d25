// scheduled → queued, within every limit, by priority: one scheduler at a time. The lock comes first and the reading
// after it in a statement of its own, so that nothing queued by another is missed. Runs at the end of the caller's
// transaction, so that the lock is held for the shortest time.
import { lockCriticalSection, queueTasks, readAdmission, type QueuedAttempt } from "@millrace/shared/db";
import { admit } from "@millrace/shared/model";
import type { ActorDeps } from "../deps.ts";

export async function queueScheduledTasks(deps: ActorDeps, schedulerJobId: number): Promise<QueuedAttempt[]> {
  const { parallelism } = deps.config.core;
  await deps.tx.run(lockCriticalSection, []);
  const [snapshot] = await deps.tx.run(readAdmission, [parallelism, deps.config.scheduler.max_tis_per_query]);
  if (snapshot === undefined || snapshot.candidates.length === 0) return [];
  const graphs = await deps.versions.load(snapshot.candidates.map((candidate) => candidate.versionId));
  const { admitted } = admit({
    parallelism,
    pools: snapshot.pools,
    occupancy: snapshot.occupancy,
    candidates: snapshot.candidates,
    limitsOf: (candidate) => ({
      maxActiveTasks: candidate.maxActiveTasks,
      ...limitsOfTask(graphs.get(candidate.versionId)?.tasks.get(candidate.taskId)?.spec),
    }),
  });
  const batch = admitted.slice(0, deps.config.scheduler.max_tis_per_query);
  if (batch.length === 0) return [];
  return await deps.tx.run(queueTasks, [batch.map((c) => c.id), batch.map((c) => c.epoch), schedulerJobId]);
}

const limitsOfTask = (spec: { maxActiveTisPerDag?: number; maxActiveTisPerDagrun?: number } | undefined) => ({
  maxActiveTisPerDag: spec?.maxActiveTisPerDag,
  maxActiveTisPerDagrun: spec?.maxActiveTisPerDagrun,
});
