import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { AppError } from "../errors/index.ts";
import { loadConfig, environmentName, OPTIONS, type Environment, type OptionDefinition } from "./index.ts";

const cwd = mkdtempSync(join(tmpdir(), "millrace-config-"));
afterAll(() => rmSync(cwd, { recursive: true }));

const SECRET = "s3cr3t-and-long-enough-to-be-a-key-of-tokens";

function withFile(content: unknown): void {
  writeFileSync(join(cwd, "millrace.config.json"), typeof content === "string" ? content : JSON.stringify(content));
}

const load = (env: Environment = {}, overrides: Readonly<Record<string, unknown>> = {}) =>
  loadConfig({ env, cwd, overrides });

/** The problems that loading tells, one a line. */
function problemsOf(env: Environment, file: unknown = {}): string[] {
  withFile(file);
  try {
    load(env);
  } catch (error) {
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ code: "CONFIG_INVALID", exitCode: 2 });
    const [head = "", ...lines] = (error as AppError).message.split("\n");
    expect(head).toContain(`${lines.length} problem(s)`);
    return lines.map((line) => line.replace(/^ {2}- /, ""));
  }
  return [];
}

describe("the configuration", () => {
  test("is every default when nothing is given", () => {
    const config = loadConfig({ env: {}, cwd: join(cwd, "nowhere") });
    for (const [section, options] of Object.entries(OPTIONS)) {
      for (const [name, option] of Object.entries(options)) {
        expect((config as unknown as Record<string, Record<string, unknown>>)[section]?.[name]).toEqual(option.default);
      }
    }
  });

  test("takes a flag over the environment over the file over the default", () => {
    withFile({ core: { parallelism: 5, dags_folder: "/file" }, workers: { queues: ["a", "b"] } });
    const env = { MILLRACE__CORE__PARALLELISM: "6", MILLRACE__WORKERS__CONCURRENCY: "2" };
    const config = load(env, { "workers.concurrency": 3 });
    expect(config.core).toMatchObject({ parallelism: 6, dags_folder: "/file", max_active_runs_per_dag: 16 });
    expect(config.workers).toMatchObject({ queues: ["a", "b"], concurrency: 3 });
  });

  test("reads each kind of value from text as people write it", () => {
    withFile({});
    const set = (text: string) =>
      load({ MILLRACE__CORE__DAGS_ARE_PAUSED_AT_CREATION: text }).core.dags_are_paused_at_creation;
    expect(["true", "T", "1", "yes", "ON"].map(set)).toEqual([true, true, true, true, true]);
    expect(["false", "F", "0", "no", "off"].map(set)).toEqual([false, false, false, false, false]);
    expect(load({ MILLRACE__WORKERS__QUEUES: " a, b ,,c " }).workers.queues).toEqual(["a", "b", "c"]);
    expect(load({ MILLRACE__WORKERS__QUEUES: "" }).workers.queues).toEqual([]);
    expect(load({ MILLRACE__SCHEDULER__SWEEP_INTERVAL: "0.5" }).scheduler.sweep_interval).toBe(0.5);
  });

  test("tells every problem at once, where it comes from and what would be right", () => {
    const env = {
      MILLRACE__CORE__PARALLELISM: "many",
      MILLRACE__API__PORT: "70000",
      MILLRACE__WORKERS__CONCURRENCY: "1.5",
      MILLRACE__CORE__DAGS_ARE_PAUSED_AT_CREATION: "maybe",
      MILLRACE__API__MAXIMUM_PAGE_LIMIT: " ",
    };
    expect(problemsOf(env, { workers: { queues: [1] }, logging: { base_log_folder: 3 } })).toEqual([
      'MILLRACE__CORE__PARALLELISM is "many": must be a number',
      'MILLRACE__CORE__DAGS_ARE_PAUSED_AT_CREATION is "maybe": must be true or false',
      'MILLRACE__WORKERS__CONCURRENCY is "1.5": must be a whole number',
      "millrace.config.json workers.queues is [1]: must be a list of strings",
      'MILLRACE__API__PORT is "70000": must be from 0 to 65535',
      'MILLRACE__API__MAXIMUM_PAGE_LIMIT is " ": must be a number',
      "millrace.config.json logging.base_log_folder is 3: must be a string",
    ]);
  });

  test("names options that do not exist, and leaves other variables of the environment alone", () => {
    const env = { MILLRACE__CORE__PARALELISM: "3", MILLRACE_CONN_X: "http://x", HOME: "/" };
    expect(problemsOf(env, { core: { colour: "red" }, paint: { colour: "red" } })).toEqual([
      "MILLRACE__CORE__PARALELISM is not an option of Millrace",
      "millrace.config.json core.colour is not an option of Millrace",
      "millrace.config.json paint.colour is not an option of Millrace",
    ]);
  });

  test.each([
    ["null", "null"],
    ["a list", "[]"],
    ["a text", '"core"'],
    ["a section that is no object", '{ "core": 5 }'],
    ["a section that is null", '{ "core": null }'],
  ])("refuses a file that is %s", (_what, content) => {
    expect(problemsOf({}, content)).toEqual([expect.stringMatching(/must be an object/)]);
  });

  test("refuses a file that is not JSON, and names it", () => {
    expect(problemsOf({}, "{ core: ")).toEqual([expect.stringContaining(join(cwd, "millrace.config.json"))]);
  });

  test("never shows a secret: not one of the wrong kind, nor one that is too short, nor one in broken JSON", () => {
    const secrets = Object.entries(OPTIONS as Record<string, Record<string, OptionDefinition>>).flatMap(
      ([section, options]) =>
        Object.entries(options).flatMap(([name, option]) => ("secret" in option ? [[section, name] as const] : [])),
    );
    expect(secrets.length).toBeGreaterThan(3);
    for (const [section, name] of secrets) {
      const shown = [
        ...problemsOf({}, { [section]: { [name]: [SECRET] } }),
        ...problemsOf({ [environmentName(section, name)]: SECRET.slice(0, 7) }),
        ...problemsOf({}, `{ "${section}": { "${name}": "${SECRET}" x } }`),
        ...problemsOf({}, `{ "${section}": { "${name}": ${SECRET} } }`),
      ].join("\n");
      expect(shown).not.toBe("");
      expect(shown).not.toContain("s3cr");
    }
  });
});

const STORE = {
  MILLRACE__COMMON_IO__XCOM_OBJECTSTORAGE_PATH: "s3://values/team-1/",
  MILLRACE__COMMON_IO__XCOM_OBJECTSTORAGE_ENDPOINT: "https://minio.internal:9000",
  MILLRACE__COMMON_IO__XCOM_OBJECTSTORAGE_ACCESS_KEY_ID: "id",
  MILLRACE__COMMON_IO__XCOM_OBJECTSTORAGE_SECRET_ACCESS_KEY: SECRET,
};

test("an object store for XComs needs a bucket and a key, and no more", () => {
  withFile({});
  const { common_io } = load(STORE);
  expect(common_io.xcom_objectstorage_threshold).toBe(65_536);
});

describe("values that are dangerous together", () => {
  test.each([
    [
      { MILLRACE__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT: "14" },
      /task_instance_heartbeat_timeout is 14 s.*three heartbeats of 5 s/,
    ],
    [
      { ...STORE, MILLRACE__COMMON_IO__XCOM_OBJECTSTORAGE_PATH: "https://bucket.example/values" },
      /xcom_objectstorage_path must be s3:/,
    ],
    [{ ...STORE, MILLRACE__COMMON_IO__XCOM_OBJECTSTORAGE_PATH: "s3://values/a b" }, /path must be s3:.*the prefix of/],
    [
      { ...STORE, MILLRACE__COMMON_IO__XCOM_OBJECTSTORAGE_ENDPOINT: "minio:9000" },
      /xcom_objectstorage_endpoint must be https:/,
    ],
    [
      { ...STORE, MILLRACE__COMMON_IO__XCOM_OBJECTSTORAGE_ACCESS_KEY_ID: "" },
      /needs common_io\.xcom_objectstorage_access_key_id/,
    ],
    [{ ...STORE, MILLRACE__COMMON_IO__XCOM_OBJECTSTORAGE_MAX_BYTES: "65536" }, /threshold must be less than/],
    [{ MILLRACE__SCHEDULER__SCHEDULER_HEARTBEAT_SEC: "30" }, /scheduler_health_check_threshold is 30 s/],
    [{ MILLRACE__TRIGGERER__JOB_HEARTBEAT_SEC: "11" }, /triggerer_health_check_threshold is 30 s/],
    [{ MILLRACE__SCHEDULER__TASK_QUEUED_TIMEOUT: "30" }, /longer than scheduler.task_redispatch_after/],
    [{ MILLRACE__API_AUTH__JWT_SECRET: "short" }, /32 characters/],
    [{ MILLRACE__LOGGING__LOGGING_LEVEL: "loud" }, /debug, info, warn, error or silent/],
    [{ MILLRACE__BROKER__URL: "amqp://x" }, /redis:\/\/…, rediss:\/\/… or postgres/],
    [{ MILLRACE__DATABASE__URL: "mysql://x" }, /postgres:\/\/…/],
    [{ MILLRACE__CORE__DAGS_FOLDER: "" }, /dags_folder/],
  ])("are refused: %j", (env, problem) => {
    expect(problemsOf(env)).toEqual([expect.stringMatching(problem)]);
  });

  test("are allowed at their very bounds", () => {
    expect(
      problemsOf({
        MILLRACE__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT: "15",
        MILLRACE__API_AUTH__JWT_SECRET: SECRET.slice(0, 32),
        MILLRACE__BROKER__URL: "rediss://h:1/2",
        MILLRACE__DATABASE__URL: "postgresql://h/d",
        MILLRACE__LOGGING__LOGGING_LEVEL: "silent",
      }),
    ).toEqual([]);
  });
});
