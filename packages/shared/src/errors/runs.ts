// Runs, their task instances, and what is asked of them.
import { defineErrors } from "./define-errors.ts";

export const RUNS = defineErrors({
  RUN_NOT_FOUND: {
    message: "DAG {dagId} has no run {runId}. `millrace dags list-runs {dagId}` shows those it has.",
    httpStatus: 404,
    exitCode: 1,
    retryable: false,
  },
  DAG_PAUSED: {
    message:
      "DAG {dagId} is paused, and was to be started only when it is not. Unpause it: `millrace dags unpause {dagId}`.",
    httpStatus: 409,
    exitCode: 1,
    retryable: false,
  },
  QUESTION_NOT_FOUND: {
    message: "{taskId} in run {runId} of {dagId} asks nothing. `millrace hitl list` shows what is asked.",
    httpStatus: 404,
    exitCode: 1,
    retryable: false,
  },
  QUESTION_CLOSED: {
    message: "The question of {taskId} in run {runId} takes no answer any more: {how}.",
    httpStatus: 409,
    exitCode: 1,
    retryable: false,
  },
  ANSWER_INVALID: {
    message: "This is no answer to {taskId}: {cause}.",
    httpStatus: 422,
    exitCode: 1,
    retryable: false,
  },
  ANSWER_NOT_ALLOWED: {
    message: "{user} may not answer {taskId}: it asks {assigned}.",
    httpStatus: 403,
    exitCode: 1,
    retryable: false,
  },
  MARKERS_TOO_DEEP: {
    message:
      "The clear would go on at {taskId} of {dagId}, deeper than its markers allow: do they lead in a circle? Raise recursionDepth, or clear without recursive.",
    httpStatus: 409,
    exitCode: 1,
    retryable: false,
  },
  RUN_EXISTS: {
    message: "DAG {dagId} already has a run {runId}. Leave the run id out to get a unique one.",
    httpStatus: 409,
    exitCode: 1,
    retryable: false,
  },
  RUN_ID_INVALID: {
    message:
      "Run id {runId} is not allowed: use letters, digits and . _ ~ : + - (250 at most), not .., and not the prefix of another run type.",
    httpStatus: 422,
    exitCode: 1,
    retryable: false,
  },
  RUN_CONF_INVALID: {
    message: "The conf of a run must be a JSON object: {cause}.",
    httpStatus: 422,
    exitCode: 1,
    retryable: false,
  },
  RUN_PARAMS_INVALID: {
    message: "DAG {dagId} cannot be run with these params:\n{violations}",
    httpStatus: 400,
    exitCode: 1,
    retryable: false,
  },
  TASK_NOT_FOUND: {
    message: "DAG {dagId} has no task {taskId}{where}.",
    httpStatus: 404,
    exitCode: 1,
    retryable: false,
  },
  TASK_RUNNING: {
    message:
      "Task {taskId} of run {runId} is {state}; nothing was cleared. Stop it first, or allow running tasks to be cleared.",
    httpStatus: 409,
    exitCode: 1,
    retryable: false,
  },
  RUN_RUNNING: {
    message: "Run {runId} of {dagId} is running and cannot be deleted. Mark it failed first.",
    httpStatus: 409,
    exitCode: 1,
    retryable: false,
  },
  STATE_INVALID: {
    message: "{state} is not a state that can be set here: use one of {known}.",
    httpStatus: 422,
    exitCode: 2,
    retryable: false,
  },
  LOG_NOT_FOUND: {
    message: "There is no log of try {tryNumber} of {dagId}.{taskId} in run {runId} here: {cause}.",
    httpStatus: 404,
    exitCode: 1,
    retryable: false,
  },
  RENDER_FAILED: {
    message: "The options of task {taskId} of DAG {dagId} cannot be rendered for run {runId}: {reason}",
    httpStatus: 422,
    exitCode: 1,
    retryable: false,
  },
  POOL_NOT_FOUND: {
    message: "There is no pool {pool}. `millrace pools list` shows those there are.",
    httpStatus: 404,
    exitCode: 1,
    retryable: false,
  },
});
