// Backfills.
import { defineErrors } from "./define-errors.ts";

export const BACKFILLS = defineErrors({
  BACKFILL_NOT_FOUND: {
    message: "There is no backfill {backfillId}. `millrace backfill list` shows those there are.",
    httpStatus: 404,
    exitCode: 1,
    retryable: false,
  },
  BACKFILL_ACTIVE: {
    message:
      "DAG {dagId} has an active backfill already: {backfillId}. Wait until it is done, or cancel it with `millrace backfill cancel`.",
    httpStatus: 409,
    exitCode: 1,
    retryable: false,
  },
  BACKFILL_COMPLETED: {
    message: "Backfill {backfillId} is over since {at}, so it cannot be changed.",
    httpStatus: 409,
    exitCode: 1,
    retryable: false,
  },
  BACKFILL_NO_SCHEDULE: {
    message:
      "DAG {dagId} has no schedule with dates of its own, so there is nothing to backfill. `millrace dags trigger` runs it once.",
    httpStatus: 422,
    exitCode: 1,
    retryable: false,
  },
  BACKFILL_RANGE_INVALID: {
    message: "The dates of the backfill are wrong: {cause}.",
    httpStatus: 422,
    exitCode: 1,
    retryable: false,
  },
  BACKFILL_ORDER_INVALID: {
    message:
      "A backfill of {dagId} has to keep to the order of its dates: {cause}, since {tasks} depend on their past.",
    httpStatus: 422,
    exitCode: 1,
    retryable: false,
  },
  BACKFILL_TOO_LARGE: {
    message:
      "The backfill of {dagId} would have more than {most} dates. Ask for a shorter time, one part after the other.",
    httpStatus: 422,
    exitCode: 1,
    retryable: false,
  },
  BACKFILL_NOT_FORESEEN: {
    message:
      "The dates of a backfill of {dagId} come from the code of its timetable ({timetable}), which only the dag-processor runs, so a dry run cannot tell them. Create the backfill: `millrace backfill show` tells how many dates there are as soon as they are known, and `millrace backfill cancel` ends it.",
    httpStatus: 422,
    exitCode: 1,
    retryable: false,
  },
  BACKFILL_EMPTY: {
    message:
      "The schedule of {dagId} has no date from {from} to {to} whose interval is over, so there is nothing to backfill.",
    httpStatus: 422,
    exitCode: 1,
    retryable: false,
  },
});
