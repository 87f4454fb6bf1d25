// queued → running for runs whose dag has room under max_active_runs, the oldest first. A run of which no task can move
// yet stays queued and takes no room, and the next one is looked at. A run without tasks succeeds at once. What was decided
// of a started run is written as after any other examination: nothing wakes anybody for it later.
// The dag row is locked while its limit is counted and used up.
import { finishRuns, lockDagsToStart, runsToStart, startRuns } from "@millrace/shared/db";
import { canStart } from "@millrace/shared/model";
import type { ActorDeps } from "../deps.ts";
import { applyFailFast } from "./apply-fail-fast.ts";
import { NOTHING_EXAMINED, openCases, writeExamined, type Examined } from "./examine-runs.ts";

const RUNS_LOOKED_AT_PER_DAG = 50;

export interface Started extends Examined {
  readonly started: number;
}

export const NOTHING_STARTED: Started = { started: 0, ...NOTHING_EXAMINED };

export async function startQueuedRuns(deps: ActorDeps): Promise<Started> {
  const dags = await deps.tx.run(lockDagsToStart, [deps.config.scheduler.max_dagruns_per_loop_to_schedule]);
  if (dags.length === 0) return NOTHING_STARTED;
  const runs = await deps.tx.run(runsToStart, [dags.map((dag) => dag.dagId), RUNS_LOOKED_AT_PER_DAG]);
  const cases = await openCases(
    deps,
    runs.map((run) => ({ run, changed: null })),
  );
  const empty = cases.filter((c) => c.graph.tasks.size === 0);
  const room = new Map(runs.map((run) => [run.dagId, run.room]));
  const admitted = cases
    .filter((c) => c.graph.tasks.size > 0 && canStart(c.changes.length, [...c.known.values()].flat()))
    .sort(
      (a, b) => a.target.run.runAfter.getTime() - b.target.run.runAfter.getTime() || a.target.run.id - b.target.run.id,
    )
    .filter(({ target: { run } }) => {
      const left = room.get(run.dagId) ?? 0;
      room.set(run.dagId, left - 1);
      return left > 0;
    });
  if (admitted.length > 0) await deps.tx.run(startRuns, [admitted.map((c) => c.target.run.id).sort((a, b) => a - b)]);
  const examined = await writeExamined(deps, { cases: admitted, stopped: await applyFailFast(deps, admitted) });
  const finished =
    empty.length === 0
      ? []
      : await deps.tx.run(finishRuns, [
          empty.map((c) => c.target.run.id),
          empty.map(() => "success"),
          empty.map(() => "success"),
        ]);
  return { ...examined, started: admitted.length, finished: [...examined.finished, ...finished] };
}
