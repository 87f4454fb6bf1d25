// Whether a later run of the schedule is due already, for tasks that ask. A schedule that can be computed says so itself; of
// a custom one only the stored plan knows.
import type { ScheduleSpec } from "@millrace/sdk/spec";
import { readIsLatestRun, type ClaimedAttempt, type Database } from "@millrace/shared/db";
import { isLatestInterval, timeOf } from "@millrace/shared/model";

/** A run that is not of the schedule always is the latest. */
export async function isLatestRun(
  db: Pick<Database, "run">,
  { dagRunId, runType, dataIntervalStart, dataIntervalEnd, claimedAt }: ClaimedAttempt,
  schedule: ScheduleSpec,
): Promise<boolean> {
  if (runType !== "scheduled" || dataIntervalStart === null || dataIntervalEnd === null) return true;
  if (timeOf(schedule).kind === "custom") return (await db.run(readIsLatestRun, [dagRunId]))[0]?.isLatest ?? true;
  const interval = { start: dataIntervalStart.getTime(), end: dataIntervalEnd.getTime() };
  return isLatestInterval(schedule, interval, claimedAt.getTime());
}
