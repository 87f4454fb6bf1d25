// Assets and their events.
import { defineErrors } from "./define-errors.ts";

export const ASSETS = defineErrors({
  ASSET_NOT_FOUND: {
    message: "There is no asset {asset}. `millrace assets list` shows those that DAGs declare.",
    httpStatus: 404,
    exitCode: 1,
    retryable: false,
  },
  ASSET_ALIAS_NOT_FOUND: {
    message: "There is no asset alias {alias}.",
    httpStatus: 404,
    exitCode: 1,
    retryable: false,
  },
  ASSET_NOT_PRODUCED: {
    message: "No DAG has a task with the asset {asset} among its outlets, so nothing can be run to update it.",
    httpStatus: 404,
    exitCode: 1,
    retryable: false,
  },
  ASSET_PRODUCED_TWICE: {
    message: "Several DAGs update the asset {asset}: {dags}. Trigger the one that is meant.",
    httpStatus: 409,
    exitCode: 1,
    retryable: false,
  },
  ASSET_EVENT_INVALID: {
    message: "The event cannot be written: {cause}.",
    httpStatus: 400,
    exitCode: 1,
    retryable: false,
  },
  ASSET_EVENTS_TOO_LARGE: {
    message:
      "The extras of the {events} events {what} take {bytes} bytes of JSON, and {max} are given to a task at once. {instead}.",
    httpStatus: 413,
    exitCode: 1,
    retryable: false,
  },
  ASSET_STATE_NOT_FOUND: {
    message: "Nothing is kept about the asset {asset} under {key}.",
    httpStatus: 404,
    exitCode: 1,
    retryable: false,
  },
  ASSET_STATE_INVALID: {
    message: "The value of {key} cannot be kept: {cause}.",
    httpStatus: 400,
    exitCode: 1,
    retryable: false,
  },
  QUEUED_EVENTS_NOT_FOUND: {
    message: "No event of {what} waits.",
    httpStatus: 404,
    exitCode: 1,
    retryable: false,
  },
});
