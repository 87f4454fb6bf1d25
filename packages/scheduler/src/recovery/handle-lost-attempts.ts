// Attempts whose worker fell silent: tried again without using a try, or failed, with the reason in the log. The rows are
// locked while they are judged, so that each loss is handled once with any number of schedulers.
import {
  confirmStopped,
  finishAttempts,
  insertLog,
  lockLostAttempts,
  newId,
  retryAttempts,
  type LostAttempt,
} from "@millrace/shared/db";
import { crashPoint } from "@millrace/shared/lifecycle";
import { decideLostAttempt, type LostAttemptOutcome } from "@millrace/shared/model";
import type { Wake } from "@millrace/shared/queue";
import type { ActorDeps } from "../deps.ts";

const AT_ONCE = 500;

/** What becomes of a lost attempt; `wish`: it was being stopped already. */
type Outcome = LostAttemptOutcome | "wish";

export async function handleLostAttempts(deps: ActorDeps, outage?: { mayJudge(): boolean }): Promise<Wake[]> {
  const found = await deps.tx.run(lockLostAttempts, [deps.config.scheduler.task_instance_heartbeat_timeout, AT_ONCE]);
  if (found.length === 0 || outage?.mayJudge() === false) return [];
  crashPoint("scheduler.lost");
  const graphs = await deps.versions.load(
    found.map((attempt) => attempt.versionId),
    deps.tx,
  );
  // Whether they may run again is for a scheduler that understands their DAG.
  const lost = found.filter((attempt) => !deps.versions.isNewer(attempt.versionId));
  if (lost.length === 0) return [];
  const judged = lost.map((attempt) => {
    const spec = graphs.get(attempt.versionId)?.tasks.get(attempt.taskId)?.spec;
    const outcome: Outcome =
      attempt.state !== "running"
        ? "wish"
        : spec === undefined
          ? "fail"
          : decideLostAttempt(spec, attempt.infraFailures);
    return { attempt, outcome, retries: spec?.retries ?? 0, reason: reasonOf(attempt, outcome) };
  });
  const wished = judged.filter((j) => j.outcome === "wish");
  if (wished.length > 0) {
    await deps.tx.run(confirmStopped, [
      wished.map((j) => j.attempt.id),
      wished.map((j) => j.attempt.epoch),
      wished.map(() => newId()),
      wished.map((j) => j.retries),
    ]);
  }
  const again = judged.filter((j) => j.outcome === "retry");
  const over = judged.filter((j) => j.outcome === "poison" || j.outcome === "fail");
  if (again.length > 0) {
    await deps.tx.run(retryAttempts, [
      again.map((j) => j.attempt.id),
      again.map((j) => j.attempt.epoch),
      again.map(() => newId()),
      again.map(() => 0),
      again.map(() => true),
      again.map(() => true),
      again.map((j) => j.reason),
    ]);
  }
  if (over.length > 0) {
    await deps.tx.run(finishAttempts, [
      over.map((j) => j.attempt.id),
      over.map((j) => j.attempt.epoch),
      over.map(() => "failed"),
      over.map(() => null),
      [],
      [],
      [],
      over.map((j) => j.reason),
    ]);
  }
  await deps.tx.run(insertLog, [
    judged.map(() => "heartbeat timeout"),
    judged.map((j) => j.attempt.dagId),
    judged.map((j) => j.attempt.taskId),
    judged.map((j) => j.attempt.runId),
    judged.map((j) => j.attempt.mapIndex),
    judged.map((j) => j.attempt.tryNumber),
    judged.map(() => "scheduler"),
    judged.map((j) => j.reason),
  ]);
  for (const { attempt, reason } of judged) {
    deps.log.warn({ dag: attempt.dagId, run: attempt.runId, task: attempt.taskId, try: attempt.tryNumber }, reason);
  }
  return lost.map((attempt) => ({ dagRunId: attempt.dagRunId, taskIds: [attempt.taskId] }));
}

function reasonOf(attempt: LostAttempt, outcome: Outcome): string {
  const what = `worker lost: no heartbeat from ${attempt.hostname ?? "its worker"} for ${attempt.silentSeconds.toFixed(1)} s`;
  const then = {
    wish: "it had been asked to stop, and ends as was wished",
    retry: "it runs again without using a retry",
    poison: `it lost ${attempt.infraFailures + 1} workers and fails, in case it is what kills them`,
    fail: "the task has no retries, so it fails and is not run again by itself",
  };
  return `${what}; ${then[outcome]}`;
}
