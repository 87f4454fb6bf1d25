import { MIN_KEY_LENGTH, readKeys } from "../secrets/cipher.ts";
import { OPTIONS, type Config } from "./options.ts";

const PLACES: readonly string[] = OPTIONS.secrets.backends_order.default;

/** Mixes of values that are each allowed but dangerous together. */
export function checkMix(config: Config): string[] {
  const problems: string[] = [];
  const { scheduler, triggerer, core } = config;
  const atLeastThrice = (what: string, threshold: number, every: number) => {
    if (threshold < 3 * every) {
      problems.push(
        `${what} is ${threshold} s, less than three heartbeats of ${every} s: healthy processes would be taken for dead`,
      );
    }
  };
  atLeastThrice(
    "scheduler.task_instance_heartbeat_timeout",
    scheduler.task_instance_heartbeat_timeout,
    scheduler.task_instance_heartbeat_sec,
  );
  atLeastThrice(
    "scheduler.scheduler_health_check_threshold",
    scheduler.scheduler_health_check_threshold,
    scheduler.scheduler_heartbeat_sec,
  );
  atLeastThrice(
    "triggerer.triggerer_health_check_threshold",
    triggerer.triggerer_health_check_threshold,
    triggerer.job_heartbeat_sec,
  );
  if (scheduler.task_queued_timeout <= scheduler.task_redispatch_after) {
    problems.push(
      "scheduler.task_queued_timeout must be longer than scheduler.task_redispatch_after, or queued work fails before it is sent again",
    );
  }
  if (config.api_auth.jwt_secret !== "" && config.api_auth.jwt_secret.length < 32) {
    problems.push("api_auth.jwt_secret must have 32 characters or more");
  }
  if (!["debug", "info", "warn", "error", "silent"].includes(config.logging.logging_level)) {
    problems.push("logging.logging_level must be debug, info, warn, error or silent");
  }
  if (config.broker.url !== "" && config.broker.url !== "postgres" && !/^rediss?:\/\//.test(config.broker.url)) {
    problems.push("broker.url must be redis://…, rediss://… or postgres");
  }
  if (config.database.url !== "" && !/^postgres(ql)?:\/\//.test(config.database.url)) {
    problems.push("database.url must be postgres://…");
  }
  const keys = readKeys(core.encryption_key);
  if (keys.some((key) => key.length < MIN_KEY_LENGTH)) {
    problems.push(
      `each key of core.encryption_key must have ${MIN_KEY_LENGTH} characters or more: make one with \`openssl rand -base64 32\``,
    );
  }
  const unknown = config.secrets.backends_order.filter((name) => !PLACES.includes(name));
  if (unknown.length > 0) {
    problems.push(`secrets.backends_order names ${unknown.join(", ")}; there are: ${PLACES.join(", ")}`);
  }
  problems.push(...checkGit(config.dags_git));
  problems.push(...checkObjectStorage(config));
  if (core.dags_folder === "") problems.push("core.dags_folder must name a folder");
  return problems;
}

function* checkGit({ url, ref, subdirectory, folder }: Config["dags_git"]): Generator<string> {
  if (url === "") return;
  if (url.startsWith("-") || url.includes("::")) yield "dags_git.url must be the URL or the path of a git repository";
  if (!/^[A-Za-z0-9_][^\s~^:?*[\\]*$/.test(ref) || ref.includes("..")) {
    yield `dags_git.ref is ${ref}: it must be a branch, a tag or a full commit`;
  }
  if (subdirectory.startsWith("/") || subdirectory.split("/").includes("..")) {
    yield `dags_git.subdirectory is ${subdirectory}: it must be a path inside of the repository`;
  }
  if (folder === "") yield "dags_git.folder must name a folder";
}

function checkObjectStorage({ common_io }: Config): string[] {
  const path = common_io.xcom_objectstorage_path;
  if (path === "") return [];
  const problems: string[] = [];
  if (!/^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[A-Za-z0-9._=-]+)*\/?$/.test(path)) {
    problems.push(
      "common_io.xcom_objectstorage_path must be s3://bucket or s3://bucket/prefix, the prefix of letters, digits and . _ = -",
    );
  }
  const endpoint = common_io.xcom_objectstorage_endpoint;
  if (endpoint !== "" && !/^https?:\/\/[^/?#@]+\/?$/.test(endpoint)) {
    problems.push("common_io.xcom_objectstorage_endpoint must be https://host or https://host:port");
  }
  if (common_io.xcom_objectstorage_access_key_id === "" || common_io.xcom_objectstorage_secret_access_key === "") {
    problems.push(
      "common_io.xcom_objectstorage_path needs common_io.xcom_objectstorage_access_key_id and common_io.xcom_objectstorage_secret_access_key",
    );
  }
  if (common_io.xcom_objectstorage_threshold >= common_io.xcom_objectstorage_max_bytes) {
    problems.push(
      "common_io.xcom_objectstorage_threshold must be less than common_io.xcom_objectstorage_max_bytes, or nothing goes to the store",
    );
  }
  return problems;
}
