// DAGs, their files and schedules.
import { defineErrors } from "./define-errors.ts";

export const DAGS = defineErrors({
  DAG_NOT_FOUND: {
    message: "There is no DAG {dagId}. `millrace dags list` shows those that were read.",
    httpStatus: 404,
    exitCode: 1,
    retryable: false,
  },
  DAG_HAS_IMPORT_ERROR: {
    message: "DAG {dagId} cannot be run: its file {file} has an error. `millrace dags list-import-errors` shows it.",
    httpStatus: 400,
    exitCode: 1,
    retryable: false,
  },
  DAG_STALE: {
    message: "DAG {dagId} is no longer in the DAG folder, so it cannot be run.",
    httpStatus: 404,
    exitCode: 1,
    retryable: false,
  },
  DAG_FILE_INVALID: {
    message: "{file} cannot be used as a DAG file:\n{problems}",
    httpStatus: 400,
    exitCode: 1,
    retryable: false,
  },
  DAGS_GIT_FAILED: {
    message: "There are no DAG files to read. {cause}",
    httpStatus: 503,
    exitCode: 3,
    retryable: true,
  },
  SCHEDULE_INVALID: {
    message: "{schedule} is not a schedule: {cause}.",
    httpStatus: 400,
    exitCode: 1,
    retryable: false,
  },
  SIMULATION_INVALID: {
    message: "{dagId} ({schedule}) cannot be simulated like this:\n{problems}",
    httpStatus: 400,
    exitCode: 2,
    retryable: false,
  },
  PREVIEW_INVALID: {
    message: "There is no such preview: {cause}.",
    httpStatus: 400,
    exitCode: 1,
    retryable: false,
  },
  DAG_VERSION_NOT_FOUND: {
    message: "DAG {dagId} has no version {version}.",
    httpStatus: 404,
    exitCode: 1,
    retryable: false,
  },
});
