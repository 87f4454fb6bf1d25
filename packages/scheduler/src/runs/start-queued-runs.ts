// queued → running for runs whose dag has room under max_active_runs, the oldest first, and for those of backfills under
// the backfill's own limit and in its own order. A run of which no task can move yet stays queued and takes no room, and
// the next one is looked at. A run without tasks succeeds at once. What was decided of a started run is written as after
// any other examination: nothing wakes anybody for it later. One that cannot start is not read again before what it waits for
// names it, or some seconds have gone by.
// The dag row is locked while a limit is counted and used up.
import {
  backfillRunsToStart,
  finishRuns,
  lockBackfillsToStart,
  lockDagsToStart,
  noteCannotStart,
  runsToStart,
  startRuns,
  type LockedRun,
} from "@millrace/shared/db";
import { canStart } from "@millrace/shared/model";
import type { ActorDeps } from "../deps.ts";
import { carryOn, NOTHING_EXAMINED, openCases, readWhole, writeExamined, type Examined } from "./examine-runs.ts";

const LOOKED_AT_BEYOND_ROOM = 5;

export interface Started extends Examined {
  readonly started: number;
  /** There may be more to look at: runs that cannot start stood before others. */
  readonly more: boolean;
  /** The runs that were read, and how many rows each had. */
  readonly looked: readonly { readonly rows: number }[];
}

export const NOTHING_STARTED: Started = { started: 0, more: false, looked: [], ...NOTHING_EXAMINED };

/** When a run that could not start is looked at again. */
export interface LookAgain {
  readonly afterSeconds: number;
  /** Runs that something has happened to since: at once. */
  readonly named: readonly number[];
  /** How many runs are looked at in one go. */
  readonly atMost: number;
}

const SELDOM: LookAgain = { afterSeconds: 5, named: [], atMost: 200 };

/** A queued run with what it starts under: the limit of its dag, or that of its backfill. */
interface Waiting {
  readonly run: LockedRun;
  readonly limit: string;
  readonly room: number;
  /** Lower goes first under the same limit. */
  readonly turn: number;
  /** Once found unable to start, it is looked at again only when it is due. */
  readonly isNoted: boolean;
}

export async function startQueuedRuns(deps: ActorDeps, again: LookAgain = SELDOM): Promise<Started> {
  const waiting = await lockWaiting(deps, again);
  if (waiting.length === 0) return NOTHING_STARTED;
  const cases = await openCases(
    deps,
    waiting.map(({ run }) => ({ run, changed: null })),
  );
  const empty = cases.filter((c) => c.graph.tasks.size === 0);
  const queue = new Map(waiting.map((one) => [one.run.id, one]));
  const room = new Map(waiting.map((one) => [one.limit, one.room]));
  const able = cases.filter((c) => canStart(c.changes.length + c.expansions.length, [...c.known.values()].flat()));
  // Those too that could not be examined, or are of a DAG that only newer schedulers can read.
  const isAble = new Set(able.map((c) => c.target.run.id));
  const unable = waiting.filter(({ run, isNoted }) => isNoted && !isAble.has(run.id)).map(({ run }) => run.id);
  const admitted = able
    .filter((c) => c.graph.tasks.size > 0)
    .flatMap((c) => {
      const one = queue.get(c.target.run.id);
      return one === undefined ? [] : [{ c, ...one }];
    })
    .sort((a, b) => a.turn - b.turn || a.run.id - b.run.id)
    .filter(({ limit }) => {
      const left = room.get(limit) ?? 0;
      room.set(limit, left - 1);
      return left > 0;
    })
    .map(({ c }) => c);
  if (unable.length > 0) await deps.tx.run(noteCannotStart, [unable]);
  if (admitted.length > 0) await deps.tx.run(startRuns, [admitted.map((c) => c.target.run.id).sort((a, b) => a - b)]);
  const examined = await writeExamined(deps, await carryOn(deps, admitted));
  const finished =
    empty.length === 0
      ? []
      : await deps.tx.run(finishRuns, [
          empty.map((c) => c.target.run.id),
          empty.map(() => "success"),
          empty.map(() => "success"),
        ]);
  return {
    ...examined,
    started: admitted.length,
    more: unable.length > 0,
    looked: readWhole({ cases }),
    finished: [...examined.finished, ...finished],
  };
}

async function lockWaiting({ tx, config }: ActorDeps, { afterSeconds, named, atMost }: LookAgain): Promise<Waiting[]> {
  const atOnce = config.scheduler.max_dagruns_per_loop_to_schedule;
  const [dags, backfills] = await Promise.all([
    tx.run(lockDagsToStart, [atOnce, afterSeconds, named]),
    tx.run(lockBackfillsToStart, [atOnce]),
  ]);
  const [runs, backfillRuns] = await Promise.all([
    dags.length === 0
      ? []
      : tx.run(runsToStart, [dags.map((dag) => dag.dagId), LOOKED_AT_BEYOND_ROOM, atMost, afterSeconds, named]),
    backfills.length === 0 ? [] : tx.run(backfillRunsToStart, [backfills.map((b) => b.id), LOOKED_AT_BEYOND_ROOM]),
  ]);
  return [
    ...runs.map((run) => ({
      run,
      limit: `dag ${run.dagId}`,
      room: run.room,
      turn: run.runAfter.getTime(),
      isNoted: true,
    })),
    ...backfillRuns.map((run) => ({
      run,
      limit: `backfill ${run.backfillId}`,
      room: run.room,
      turn: run.turn,
      isNoted: false,
    })),
  ];
}
