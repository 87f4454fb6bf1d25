// Every error that a person can meet: one stable code, what it means to a program (HTTP status, exit code,
// whether trying again can help), and the sentence. docs/reference/errors.md lists the same, kept equal by a test.

export interface ErrorDefinition {
  /** With `{name}` for each value that the place of the error fills in. */
  readonly message: string;
  readonly httpStatus: number;
  readonly exitCode: number;
  readonly retryable: boolean;
}

const define = <const T extends Record<string, ErrorDefinition>>(errors: T): T => errors;

export const ERRORS = define({
  CONFIG_INVALID: {
    message: "The configuration has {count} problem(s):\n{problems}",
    httpStatus: 500,
    exitCode: 2,
    retryable: false,
  },
  DATABASE_UNREACHABLE: {
    message: "Cannot reach Postgres at {target}: {cause}. Is it running, and is MILLRACE__DATABASE__URL right?",
    httpStatus: 503,
    exitCode: 3,
    retryable: true,
  },
  DATABASE_NOT_MIGRATED: {
    message: "The database at {target} has schema {found}, this program needs {needed}. Run `millrace db migrate`.",
    httpStatus: 503,
    exitCode: 3,
    retryable: false,
  },
  DATABASE_TOO_NEW: {
    message:
      "The database at {target} was migrated by a newer Millrace (unknown migration {found}). Upgrade this process before starting it.",
    httpStatus: 503,
    exitCode: 3,
    retryable: false,
  },
  BROKER_UNREACHABLE: {
    message: "Cannot reach the broker at {target}: {cause}. Is Redis running, and is MILLRACE__BROKER__URL right?",
    httpStatus: 503,
    exitCode: 3,
    retryable: true,
  },
  BROKER_EVICTS: {
    message:
      "Redis at {target} has maxmemory-policy {policy} and may throw queued work away. Set it to noeviction: `redis-cli config set maxmemory-policy noeviction`.",
    httpStatus: 503,
    exitCode: 3,
    retryable: false,
  },
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
  QUEUED_EVENTS_NOT_FOUND: {
    message: "No event of {what} waits.",
    httpStatus: 404,
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
  AUTH_REQUIRED: {
    message: "Log in first: send a bearer token from POST /auth/token.",
    httpStatus: 401,
    exitCode: 4,
    retryable: false,
  },
  AUTH_FAILED: {
    message: "User name or password is wrong.",
    httpStatus: 401,
    exitCode: 4,
    retryable: false,
  },
  DAG_VERSION_NOT_FOUND: {
    message: "DAG {dagId} has no version {version}.",
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
  XCOM_NOT_FOUND: {
    message: "Task {taskId} has no XCom {key} in run {runId}.",
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
  POOL_NOT_FOUND: {
    message: "There is no pool {pool}. `millrace pools list` shows those there are.",
    httpStatus: 404,
    exitCode: 1,
    retryable: false,
  },
  STANDALONE_RUNNING: {
    message: "A standalone is running on {dir} already (process {pid}). Stop it, or use another folder with --data.",
    httpStatus: 500,
    exitCode: 1,
    retryable: false,
  },
  STANDALONE_FOLDER_UNUSABLE: {
    message: "{dir} cannot be used for data: {cause}. Choose a folder that you can write to with --data.",
    httpStatus: 500,
    exitCode: 1,
    retryable: false,
  },
  STANDALONE_POSTGRES_FAILED: {
    message: "The embedded Postgres did not start: {cause}",
    httpStatus: 500,
    exitCode: 3,
    retryable: false,
  },
  STANDALONE_PORT_IN_USE: {
    message: "Something listens on {target} already. Choose another port with --port, or --port 0 for a free one.",
    httpStatus: 500,
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
  ORDER_BY_INVALID: {
    message: "Cannot sort by {key}; allowed: {known}.",
    httpStatus: 400,
    exitCode: 2,
    retryable: false,
  },
  TOKEN_INVALID: {
    message: "The token is not valid: {cause}. Log in again.",
    httpStatus: 403,
    exitCode: 4,
    retryable: false,
  },
  LOGIN_THROTTLED: {
    message: "Too many failed logins. Try again in {seconds} s.",
    httpStatus: 429,
    exitCode: 4,
    retryable: true,
  },
  ORIGIN_REFUSED: {
    message: "A request from another site is refused. Send a bearer token instead of the cookie.",
    httpStatus: 403,
    exitCode: 4,
    retryable: false,
  },
  API_CANNOT_LISTEN: {
    message: "Cannot listen on {target}: {cause}. Choose another with MILLRACE__API__HOST and MILLRACE__API__PORT.",
    httpStatus: 500,
    exitCode: 3,
    retryable: false,
  },
  TOO_MANY_STREAMS: {
    message: "{limit} pages are watching already. Close some, or reload without live changes.",
    httpStatus: 503,
    exitCode: 3,
    retryable: true,
  },
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
  REQUEST_INVALID: {
    message: "The request is not valid: {cause}.",
    httpStatus: 422,
    exitCode: 2,
    retryable: false,
  },
});

export type ErrorCode = keyof typeof ERRORS;
