// Asks custom schedules ahead, in a child process, and stores their answers. One that throws or does not return is recorded
// as a warning of its own DAG and asked again later; what it had planned before is still created.
import { posix } from "node:path";
import type { Config } from "@millrace/shared/config";
import {
  intervalOf,
  readArtifact,
  setTimetableErrors,
  storeTimetableAnswer,
  timetablePlansToFill,
  type Database,
  type PlanToFill,
} from "@millrace/shared/db";
import { boundsOf } from "@millrace/shared/model";
import { planInChild } from "../parse/parse-in-child.ts";

/** How many runs are asked for at once, and how few may be left before that. */
const RUNS_AHEAD = 100;
const FEW_LEFT = 50;

export interface FillDeps {
  readonly db: Database;
  readonly config: Pick<Config, "dag_processor">;
  readonly signal: AbortSignal;
}

export async function plansToFill({ db, config }: Omit<FillDeps, "signal">): Promise<readonly PlanToFill[]> {
  return await db.run(timetablePlansToFill, [FEW_LEFT, config.dag_processor.refresh_interval]);
}

/** Gives back why the schedule failed, or undefined. */
export async function fillPlan({ db, config, signal }: FillDeps, plan: PlanToFill): Promise<string | undefined> {
  const { dagId, artifactHash, spec, askedUntil, now } = plan;
  const [artifact] = await db.run(readArtifact, [artifactHash]);
  if (artifact === undefined) return undefined;
  const { earliest = null, latest = null } = boundsOf(spec);
  const last = plan.runs.at(-1)?.interval ?? intervalOf(plan.lastStart, plan.lastEnd) ?? null;
  const asked = (askedUntil ?? now).getTime();
  const outcome = await planInChild(
    { ...artifact, hash: artifactHash },
    { dagId, last, now: asked, earliest, latest, catchup: spec.catchup, count: RUNS_AHEAD },
    {
      timeoutMs: config.dag_processor.dag_file_processor_timeout * 1000,
      memoryMb: config.dag_processor.dag_file_processor_memory_mb,
      signal,
      folder: posix.dirname(plan.file),
    },
  );
  if (outcome.kind === "stopped") return undefined;
  const answer = outcome.kind === "answered" ? outcome.answer : undefined;
  const { runs = [], manual = [], ended = false } = answer ?? {};
  const error = outcome.kind === "failed" ? outcome.message : answer?.error;
  const until = runs.at(-1)?.runAfter;
  await db.transaction(
    async (tx) => {
      const stored = await tx.run(storeTimetableAnswer, [
        dagId,
        plan.generation,
        JSON.stringify(runs),
        JSON.stringify(manual),
        ended,
        until === undefined ? askedUntil : new Date(until),
        error !== undefined,
      ]);
      if (stored.length > 0)
        await tx.run(setTimetableErrors, [[dagId], [error === undefined ? null : said(spec.schedule, error)]]);
    },
    { actor: "dag-processor" },
  );
  return error;
}

const said = (schedule: PlanToFill["spec"]["schedule"], error: string): string => {
  const name = schedule.kind === "custom" ? ` ${schedule.name}` : "";
  return `The timetable${name} of this DAG failed; after what it had planned before, there are no runs until that is changed.\n${error.replaceAll("\0", "\\0")}`;
};
