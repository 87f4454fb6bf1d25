import { readSchedule, wrongTimezone } from "@millrace/sdk/reading";
import { AppError } from "../../errors/index.ts";
import { cronTicks, timeOf } from "../../model/index.ts";
import type { ScheduleChange } from "./preview.ts";

export interface GivenChange {
  /** A preset, a cron expression, or `none`. */
  readonly schedule?: string | undefined;
  /** Of the schedule given. @default "UTC" */
  readonly timezone?: string | undefined;
  readonly catchup?: string | undefined;
  readonly startDate?: Date | undefined;
}

/**
 * A change of schedule as people write it; undefined when they gave none.
 * @throws AppError PREVIEW_INVALID or SCHEDULE_INVALID, with everything that is wrong.
 */
export function readScheduleChange(given: GivenChange): ScheduleChange | undefined {
  const { schedule, timezone = "UTC", catchup, startDate } = given;
  const problems: string[] = [];
  const wrong = wrongTimezone(timezone);
  if (wrong !== undefined) problems.push(`timezone ${wrong}`);
  if (given.timezone !== undefined && schedule === undefined) problems.push("a timezone needs the schedule it is for");
  if (catchup !== undefined && !["true", "false", "none"].includes(catchup))
    problems.push(`catchup must be true, false or none, got ${JSON.stringify(catchup)}`);
  const spec =
    schedule === undefined
      ? undefined
      : readSchedule(schedule === "none" ? null : schedule, timezone, (problem) => problems.push(problem));
  if (problems.length > 0) throw new AppError("PREVIEW_INVALID", { cause: problems.join("; ") });
  const time = spec === undefined ? undefined : timeOf(spec);
  if (time?.kind === "cron") cronTicks(time.cron, time.timezone, time.dst);
  if (spec === undefined && catchup === undefined && startDate === undefined) return undefined;
  return {
    schedule: spec,
    catchup: catchup === undefined ? undefined : catchup === "none" ? "none" : catchup === "true",
    startDate: startDate?.toISOString(),
  };
}
