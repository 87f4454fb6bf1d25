// Every option: its section and name (Airflow's where Airflow has it), its kind, default and meaning.
// docs/reference/config.md is generated from this table; nothing else knows a default.

export type OptionKind =
  | { readonly type: "integer"; readonly min: number; readonly max: number; readonly default: number }
  | { readonly type: "number"; readonly min: number; readonly max: number; readonly default: number }
  | { readonly type: "boolean"; readonly default: boolean }
  | { readonly type: "string"; readonly default: string; readonly secret?: boolean }
  | { readonly type: "list"; readonly default: readonly string[] };

export type OptionDefinition = OptionKind & { readonly about: string };

const integer = (value: number, min: number, about: string, max = 2_147_483_647) =>
  ({ type: "integer", default: value, min, max, about }) as const;
const seconds = (value: number, about: string, min = 0.05) =>
  ({ type: "number", default: value, min, max: 31_536_000, about: `${about} Seconds.` }) as const;
const text = (value: string, about: string) => ({ type: "string", default: value, about }) as const;
const secret = (value: string, about: string) => ({ type: "string", default: value, about, secret: true }) as const;
const flag = (value: boolean, about: string) => ({ type: "boolean", default: value, about }) as const;
const list = (value: readonly string[], about: string) => ({ type: "list", default: value, about }) as const;

export const OPTIONS = {
  core: {
    dags_folder: text("./dags", "Folder whose files are read as DAGs."),
    parallelism: integer(32, 1, "Task instances queued or running at once, all schedulers together."),
    max_active_tasks_per_dag: integer(16, 1, "Default of a DAG's maxActiveTasks."),
    max_active_runs_per_dag: integer(16, 1, "Default of a DAG's maxActiveRuns."),
    dags_are_paused_at_creation: flag(true, "Whether a new DAG starts paused, unless it says so itself."),
    unpaused_at_creation: list([], "Ids of DAGs that start unpaused whatever the option above says."),
    default_pool_task_slot_count: integer(128, 0, "Slots of default_pool when it is first created."),
    killed_task_cleanup_time: seconds(10, "From SIGTERM to SIGKILL of a task that has to stop."),
    max_task_retry_delay: seconds(86_400, "No retry waits longer."),
    encryption_key: secret(
      "",
      "Encrypts variables and connections in the database: 32 characters or more. Several keys are separated by commas: the first encrypts, all decrypt.",
    ),
    test_connection: flag(false, "Whether connections can be tested from the API and the command line."),
    sensitive_var_conn_names: list(
      [],
      "Words beside the built-in ones (password, secret, token, …) that mark a name as one of a secret.",
    ),
    hide_sensitive_var_conn_fields: flag(true, "Whether secrets are masked in logs and answers."),
    min_length_masked_secret: integer(5, 1, "Shorter secrets are not masked: they would hide ordinary words."),
    max_map_length: integer(1_024, 1, "Instances into which one task may be expanded.", 100_000),
    max_xcom_bytes: integer(1_048_576, 1_024, "Largest XCom value, as JSON in UTF-8."),
    max_templated_field_length: integer(
      4_096,
      1,
      "Longest rendered template field that is kept for people to look at; a longer one is cut.",
    ),
    num_dag_runs_to_retain_rendered_fields: integer(
      30,
      0,
      "Newest runs of a task whose rendered template fields are kept; 0 keeps all.",
    ),
  },
  common_io: {
    xcom_objectstorage_path: text(
      "",
      "Where large XComs are kept: s3://bucket or s3://bucket/prefix. Without it all are in Postgres.",
    ),
    xcom_objectstorage_threshold: integer(65_536, 0, "XComs of more bytes of JSON go there, the others into Postgres."),
    xcom_objectstorage_max_bytes: integer(
      16_777_216,
      1_024,
      "Largest XCom where there is an object store, in place of core.max_xcom_bytes.",
    ),
    xcom_objectstorage_endpoint: text(
      "",
      "Address of an S3-compatible server: https://host:9000. Without it, AWS in the region below.",
    ),
    xcom_objectstorage_region: text("us-east-1", "Region of the bucket. Most servers other than AWS take any."),
    xcom_objectstorage_access_key_id: text("", "Id of the access key."),
    xcom_objectstorage_secret_access_key: secret("", "The access key itself."),
    xcom_objectstorage_session_token: secret("", "Goes with temporary keys."),
    xcom_objectstorage_timeout: seconds(10, "Longest that one try of a request may take; there are four."),
  },
  secrets: {
    backends_order: list(
      ["custom", "environment_variable", "local_filesystem", "metastore"],
      "Where variables and connections are looked for, the first that has one wins.",
    ),
    variables_file_path: text("", "File of variables: .json, .yaml or .env. Read again when it changes."),
    connections_file_path: text("", "File of connections: .json, .yaml or .env. Read again when it changes."),
    backend: text("", "Module whose default export makes the custom secrets backend."),
    backend_kwargs: secret("", "JSON object that is given to it."),
  },
  database: {
    url: secret("", "Postgres: postgres://user:password@host:5432/database"),
    sql_alchemy_pool_size: integer(10, 2, "Connections that one process may hold.", 500),
    max_db_retries: integer(
      5,
      0,
      "Repeats of a transaction after a deadlock, serialization failure or lost connection.",
    ),
  },
  broker: {
    url: secret("", "redis://host:6379/0, or postgres to keep the queue in the database (small installations)."),
    prefix: text("millrace", "Prefix of every key in Redis."),
  },
  scheduler: {
    scheduler_idle_sleep_time: seconds(1, "Longest pause between two looks for due runs and retries."),
    sweep_interval: seconds(5, "How often each active run is examined whole, in case a wake was lost."),
    max_tis_per_query: integer(512, 1, "Task instances queued in one pass."),
    max_dagruns_to_create_per_loop: integer(100, 1, "DAGs that get a due run in one pass."),
    max_dagruns_per_loop_to_schedule: integer(200, 1, "Runs started or examined in one pass."),
    scheduler_heartbeat_sec: seconds(5, "How often a scheduler says that it lives."),
    scheduler_health_check_threshold: seconds(30, "A scheduler silent for longer is dead."),
    task_instance_heartbeat_sec: seconds(5, "How often a worker says that its attempts live."),
    task_instance_heartbeat_timeout: seconds(30, "An attempt silent for longer has lost its worker."),
    task_instance_heartbeat_timeout_detection_interval: seconds(5, "How often silent attempts are looked for."),
    orphaned_tasks_check_interval: seconds(30, "How often queued work of schedulers that are gone is looked for."),
    task_redispatch_after: seconds(30, "A queued attempt that nobody claimed is sent to the broker again after this."),
    task_queued_timeout: seconds(600, "A queued attempt that nobody claimed for this long fails."),
  },
  dag_processor: {
    refresh_interval: seconds(30, "How often the folder is listed even if the system reported no change."),
    dag_file_processor_timeout: seconds(50, "Longest that reading one file may take."),
    dag_file_processor_memory_mb: integer(512, 64, "Heap of the process that reads a file. MiB."),
    parsing_processes: integer(2, 1, "Files read at once."),
    job_heartbeat_sec: seconds(5, "How often the dag-processor says that it lives."),
  },
  dags_git: {
    url: secret("", "Git repository that holds the DAG files, in place of core.dags_folder: any URL that git takes."),
    ref: text("main", "Branch, tag, or full commit of it."),
    subdirectory: text("", "Folder of it with the DAG files. Default: the whole of it."),
    interval: seconds(30, "How often the dag-processor asks the repository for a newer commit.", 1),
    timeout: seconds(120, "Longest that git may take.", 1),
    ssh_key: text("", "File with the private key for ssh. Default: what ssh finds by itself."),
    folder: text("./dags-git", "Where the dag-processor keeps what it fetched."),
  },
  workers: {
    concurrency: integer(16, 1, "Attempts that one worker runs at once.", 10_000),
    queues: list(["default"], "Queues that a worker takes from."),
    child_max_tasks: integer(10_000, 1, "Attempts after which a child process is replaced."),
    child_max_rss_mb: integer(512, 32, "Resident memory above which a child process is replaced. MiB."),
    child_heap_mb: integer(1_024, 64, "Largest heap of a child process. MiB."),
    graceful_timeout: seconds(600, "How long a stopping worker lets its attempts finish before it hands them back."),
    callback_timeout: seconds(60, "A callback that runs longer is stopped."),
    artifact_folder: text("", "Where workers keep DAG code. Default: a folder of the system's temporary directory."),
  },
  triggerer: {
    capacity: integer(10_000, 1, "Triggers that one triggerer has at once."),
    queues: list([], "Trigger queues that a triggerer takes from. Without any it takes the triggers that name none."),
    max_block_seconds: seconds(
      2,
      "A trigger that blocks the event loop of its process for longer fails, and the other triggers there start again.",
    ),
    job_heartbeat_sec: seconds(5, "How often a triggerer says that it lives."),
    triggerer_health_check_threshold: seconds(30, "A triggerer silent for longer is dead."),
  },
  api: {
    host: text("127.0.0.1", "Address to listen on."),
    port: integer(8_080, 0, "Port to listen on; 0 takes a free one.", 65_535),
    maximum_page_limit: integer(100, 1, "Most items of one page."),
    fallback_page_limit: integer(50, 1, "Items of one page when the request says nothing."),
  },
  api_auth: {
    jwt_secret: secret("", "Key that signs tokens, 32 characters or more. Without one each start makes its own."),
    jwt_expiration_time: seconds(86_400, "How long a token is good."),
    admin_user: text("admin", "Name of the administrator."),
    admin_password: secret("", "Password of the administrator. Without one nobody can log in."),
  },
  logging: {
    base_log_folder: text("./logs", "Folder of the task logs; workers and api must see the same."),
    logging_level: text("info", "debug, info, warn or error."),
  },
} as const satisfies Record<string, Record<string, OptionDefinition>>;

type Widen<T> = T extends { type: "integer" | "number" }
  ? number
  : T extends { type: "boolean" }
    ? boolean
    : T extends { type: "list" }
      ? readonly string[]
      : string;

/** Every option with its value, by Airflow's section and option names. */
export type Config = {
  readonly [S in keyof typeof OPTIONS]: { readonly [K in keyof (typeof OPTIONS)[S]]: Widen<(typeof OPTIONS)[S][K]> };
};
