// What users wrote and others may read is printed without secrets: those that the installation knows, in every form, and
// what stands under names of secrets.
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DagProcessor } from "@millrace/scheduler/dag-processor";
import { loadConfig } from "@millrace/shared/config";
import { Database } from "@millrace/shared/db";
import { attemptLogPath, createLogger } from "@millrace/shared/observability";
import { testDatabase } from "@millrace/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCaptured } from "../fixtures/capture-io.ts";

const database = await testDatabase();
const log = createLogger({ level: "silent", name: "test" });
const db = new Database({ url: database.url, applicationName: "test", maxConnections: 2, maxRetries: 2, log });
let dir = "";

const SECRET = 'c4n4ry-"p@ss/w0rd';
const UNKNOWN = "nobody-listed-this";
const FORMS = [
  SECRET,
  JSON.stringify(SECRET).slice(1, -1),
  JSON.stringify(JSON.stringify(SECRET)).slice(3, -3),
  encodeURIComponent(SECRET),
  Buffer.from(SECRET).toString("base64"),
];
/** As a basic authorization header has it. */
const BASIC = Buffer.from(`ada:${SECRET}`).toString("base64");
const said = `in all: ${[...FORMS, BASIC].join(" and ")}`;

const millrace = async (...argv: string[]) =>
  await runCaptured(argv, {
    MILLRACE__DATABASE__URL: database.url,
    MILLRACE__CORE__ENCRYPTION_KEY: "a key of thirty-two characters or more",
    MILLRACE__LOGGING__BASE_LOG_FOLDER: join(dir, "logs"),
  });
const at = ["dag", "task", "run"] as const;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "millrace-masked-"));
  const file = `import { Dag } from "@millrace/sdk";\nnew Dag("dag", { schedule: null }).task("task", () => 7)();`;
  await writeFile(join(dir, "dag.ts"), file);
  const config = loadConfig({ env: {}, overrides: { "core.dags_folder": dir, "database.url": database.url } });
  await new DagProcessor({ db, config, log }).processOnce();
  await millrace("variables", "set", "api_token", SECRET);
  const conf = { said, deep: [{ password: UNKNOWN }] };
  await millrace("dags", "trigger", "dag", "-r", "run", "-c", JSON.stringify(conf));
  const [ti] = await db.read<{ id: string; run: number }>("select id, dag_run_id as run from task_instance");
  const put = (sql: string, ...params: unknown[]) => db.read(sql, params);
  for (const [key, value] of Object.entries({ return_value: { said, token: UNKNOWN }, key_2: [said] })) {
    await put(
      `insert into xcom (dag_run_id, task_id, map_index, key, dag_id, run_id, value) values ($1, 'task', -1, $2, 'dag', 'run', $3)`,
      ...[ti?.run, key, JSON.stringify(value)],
    );
  }
  await put(
    `insert into rendered_task_instance_fields (dag_id, task_id, run_id, map_index, rendered_fields) values ('dag', 'task', 'run', -1, $1)`,
    JSON.stringify({ command: said, env: { API_KEY: UNKNOWN } }),
  );
  await put(
    `insert into hitl_detail (ti_id, dag_run_id, options, subject, body) values ($1, $2, '["yes"]', $3, $3)`,
    ...[ti?.id, ti?.run, said],
  );
  await put(
    "insert into import_error (filename, bundle_name, stacktrace, timestamp) values ('a.ts', 'dags-folder', $1, now())",
    said,
  );
  await put(`insert into asset (name, uri, extra) values ('orders', 'orders', $1)`, JSON.stringify({ said }));
  await put(
    `insert into asset_event (asset_id, extra) select id, $1::json from asset`,
    JSON.stringify({ said, secret: UNKNOWN }),
  );
  const path = attemptLogPath(join(dir, "logs"), {
    dagId: "dag",
    taskId: "task",
    runId: "run",
    mapIndex: -1,
    tryNumber: 1,
  });
  await mkdir(dirname(path), { recursive: true });
  const lines = [
    { timestamp: "t", level: "info", event: said },
    { level: "info", event: "more", stack: said },
  ];
  await writeFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}, 60_000);

afterAll(async () => {
  await db.close();
  await rm(dir, { recursive: true, force: true });
});

describe("prints no secret", { timeout: 60_000 }, () => {
  test.each([
    ["tasks", "render", ...at],
    ["tasks", "render", ...at, "-o", "json"],
    ["tasks", "logs", ...at],
    ["tasks", "logs", ...at, "--json"],
    ["xcoms", "get", ...at],
    ["xcoms", "get", ...at, "key_2", "--json"],
    ["dags", "list-runs", "dag", "-o", "json"],
    ["dags", "list-runs", "dag", "-o", "yaml"],
    ["hitl", "list", "--all"],
    ["hitl", "list", "--all", "-o", "plain"],
    ["hitl", "show", "dag", "run", "task"],
    ["dags", "list-import-errors"],
    ["dags", "list-import-errors", "-o", "json"],
    ["assets", "events"],
    ["assets", "events", "-o", "json"],
    ["assets", "list", "--all", "-o", "json"],
    ["assets", "details", "orders", "-o", "yaml"],
  ])("%s %s: %s %s", async (...argv) => {
    const { out, notes } = await millrace(...argv);
    expect(out.replaceAll(/\s/g, "")).toContain("inall:***");
    for (const form of [...FORMS, BASIC.slice(8, 20), UNKNOWN]) expect(`${out}${notes}`).not.toContain(form);
  });
});

describe("xcoms", { timeout: 60_000 }, () => {
  test("are listed with where they are and how large, of a run or a task, and not with their values", async () => {
    const { out, code } = await millrace("xcoms", "list", "dag", "run", "-o", "json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject([
      { task_id: "task", map_index: -1, key: "key_2", kept_in: "database", bytes: expect.any(Number) as number },
      { task_id: "task", map_index: -1, key: "return_value", kept_in: "database" },
    ]);
    expect((await millrace("xcoms", "list", "dag", "run", "--limit", "1")).notes).toContain("1 of 2 XComs");
    expect((await millrace("xcoms", "list", "dag", "run", "--task", "other")).notes).toContain("nothing to list");
    expect(await millrace("xcoms", "list", "dag", "nope")).toMatchObject({ code: 1 });
  });

  test("one that is not there ends with 1 and names it", async () => {
    const { code, notes, out } = await millrace("xcoms", "get", ...at, "nope");
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(notes).toContain("nope");
  });

  test("a value is printed as it is when nothing in it is secret, laid out when asked", async () => {
    await db.read(`update xcom set value = '{"n": [1, 2]}' where key = 'key_2'`);
    expect((await millrace("xcoms", "get", ...at, "key_2")).out).toBe('{"n":[1,2]}\n');
    expect((await millrace("xcoms", "get", ...at, "key_2", "--json")).out).toBe(
      `${JSON.stringify({ n: [1, 2] }, undefined, 2)}\n`,
    );
  });
});
