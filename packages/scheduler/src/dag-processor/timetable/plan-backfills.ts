// Asks custom schedules for the dates of a backfill, in a child process, and stores them. One that fails ends the backfill
// with the reason; nothing else of its DAG changes.
import { posix } from "node:path";
import {
  answerPlan,
  backfillsToPlan,
  MOST_DATES,
  readArtifact,
  type BackfillAnswer,
  type BackfillToPlan,
} from "@millrace/shared/db";
import type { PlannedRun } from "@millrace/shared/model";
import { planInChild } from "../parse/parse-in-child.ts";
import type { FillDeps } from "./fill-plan.ts";

const RUNS_AT_ONCE = 5_000;

export async function backfillsWithoutDates({ db }: Pick<FillDeps, "db">): Promise<readonly BackfillToPlan[]> {
  return await db.run(backfillsToPlan, []);
}

/** Gives back why there are no dates, or undefined. */
export async function planBackfillDates(deps: FillDeps, backfill: BackfillToPlan): Promise<string | undefined> {
  const answer = await ask(deps, backfill);
  if (answer === undefined) return undefined;
  await answerPlan(deps.db, backfill, answer);
  return "error" in answer ? answer.error : undefined;
}

/** Undefined: the processor is told to stop, and another asks again. */
async function ask(
  { db, config, signal }: FillDeps,
  { dagId, file, artifactHash, from, to, now }: BackfillToPlan,
): Promise<BackfillAnswer | undefined> {
  const [artifact] = await db.run(readArtifact, [artifactHash]);
  if (artifact === undefined) return undefined;
  const [earliest, latest, present] = [from.getTime(), to.getTime(), now.getTime()];
  const dates: PlannedRun[] = [];
  for (let last: PlannedRun | undefined; ;) {
    const outcome = await planInChild(
      { ...artifact, hash: artifactHash },
      {
        dagId,
        last: last?.interval ?? null,
        now: last?.runAfter ?? present,
        earliest,
        latest,
        catchup: true,
        count: RUNS_AT_ONCE,
      },
      {
        timeoutMs: config.dag_processor.dag_file_processor_timeout * 1000,
        memoryMb: config.dag_processor.dag_file_processor_memory_mb,
        signal,
        folder: posix.dirname(file),
      },
    );
    if (outcome.kind === "stopped") return undefined;
    const error = outcome.kind === "failed" ? outcome.message : outcome.answer.error;
    const runs = outcome.kind === "answered" ? outcome.answer.runs : [];
    // What the code says of the time that is still to come is for the schedule.
    const isOver = runs.some((run) => run.runAfter > present);
    dates.push(...runs.filter((run) => run.logicalDate >= earliest && run.runAfter <= present));
    if (error !== undefined && !isOver) {
      return { error: `Its timetable failed when it was asked for the dates, so there are none.\n${error}` };
    }
    if (isOver || runs.length < RUNS_AT_ONCE || dates.length > MOST_DATES) return { dates };
    last = runs.at(-1);
  }
}
