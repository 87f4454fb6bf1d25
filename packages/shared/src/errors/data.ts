// Values of tasks, variables, connections and secrets.
import { defineErrors } from "./define-errors.ts";

export const DATA = defineErrors({
  XCOM_NOT_FOUND: {
    message:
      "Task {taskId} has no XCom {key} in run {runId}. `millrace xcoms list {dagId} {runId}` shows what there is.",
    httpStatus: 404,
    exitCode: 1,
    retryable: false,
  },
  XCOM_IS_REFERENCE: {
    message:
      'XCom {key} of task {taskId} has the form of a reference ({"$millrace": "stored"}), which only Millrace makes. Return the value itself.',
    httpStatus: 400,
    exitCode: 1,
    retryable: false,
  },
  XCOM_STORE_UNREACHABLE: {
    message:
      "The object store of XComs at {target} did not answer as it should in {tries} tries: {cause}. Is common_io.xcom_objectstorage_endpoint right?",
    httpStatus: 503,
    exitCode: 3,
    retryable: true,
  },
  XCOM_STORE_NO_BUCKET: {
    message:
      "There is no bucket {bucket} at {target}. Make it, or put common_io.xcom_objectstorage_path and xcom_objectstorage_region right.",
    httpStatus: 503,
    exitCode: 3,
    retryable: true,
  },
  XCOM_STORE_DENIED: {
    message:
      "The object store refused {method} in the bucket {bucket} at {target}: {cause}. The access key needs to read, write and delete objects there.",
    httpStatus: 503,
    exitCode: 3,
    retryable: true,
  },
  XCOM_STORE_REFUSED: {
    message: "The object store refused {method} in the bucket {bucket} at {target}: {cause}.",
    httpStatus: 503,
    exitCode: 3,
    retryable: true,
  },
  XCOM_STORE_NOT_CONFIGURED: {
    message:
      "The value is in an object store, under {key}, and this process knows of none: set common_io.xcom_objectstorage_path and the keys, as for the workers.",
    httpStatus: 503,
    exitCode: 2,
    retryable: false,
  },
  XCOM_OBJECT_MISSING: {
    message:
      "The object store has nothing under {key}: somebody or a rule of the bucket removed it, or the bucket is another one. Clear the task that made the value.",
    httpStatus: 410,
    exitCode: 1,
    retryable: false,
  },
  XCOM_OBJECT_DAMAGED: {
    message:
      "What the object store has under {key} is not what was stored there: its checksum is another. Clear the task that made the value.",
    httpStatus: 502,
    exitCode: 1,
    retryable: false,
  },
  VARIABLE_NOT_FOUND: {
    message: "There is no variable {key}. `millrace variables list` shows those there are.",
    httpStatus: 404,
    exitCode: 1,
    retryable: false,
  },
  VARIABLE_INVALID: {
    message: "Variable {key} cannot be stored: {cause}.",
    httpStatus: 422,
    exitCode: 1,
    retryable: false,
  },
  CONNECTION_NOT_FOUND: {
    message:
      "There is no connection {connectionId}. `millrace connections list` shows those there are; MILLRACE_CONN_{name} would give it, too.",
    httpStatus: 404,
    exitCode: 1,
    retryable: false,
  },
  CONNECTION_INVALID: {
    message: "Connection {connectionId} cannot be used: {cause}.",
    httpStatus: 422,
    exitCode: 1,
    retryable: false,
  },
  CONNECTION_TEST_DISABLED: {
    message:
      "Connections are not tested here: a test reaches out to any address. MILLRACE__CORE__TEST_CONNECTION=true allows it.",
    httpStatus: 403,
    exitCode: 1,
    retryable: false,
  },
  CONNECTION_EXISTS: {
    message: "There is a connection {connectionId} already. Change it, or delete it first.",
    httpStatus: 409,
    exitCode: 1,
    retryable: false,
  },
  VARIABLE_EXISTS: {
    message: "There is a variable {key} already. Change it, or delete it first.",
    httpStatus: 409,
    exitCode: 1,
    retryable: false,
  },
  SECRET_UNREADABLE: {
    message:
      "{what} cannot be read: {cause}. Put the key it was encrypted with into core.encryption_key (several are separated by commas, the newest first), or set it anew.",
    httpStatus: 500,
    exitCode: 1,
    retryable: false,
  },
  ENCRYPTION_KEY_MISSING: {
    message:
      "core.encryption_key is not set. Make a key with `openssl rand -base64 32` and give it to every process as MILLRACE__CORE__ENCRYPTION_KEY.",
    httpStatus: 500,
    exitCode: 2,
    retryable: false,
  },
  SECRETS_FILE_INVALID: {
    message: "{path} cannot be used: {cause}.",
    httpStatus: 500,
    exitCode: 1,
    retryable: false,
  },
  SECRETS_BACKEND_INVALID: {
    message: "The secrets backend {path} cannot be used: {cause}.",
    httpStatus: 500,
    exitCode: 2,
    retryable: false,
  },
});
