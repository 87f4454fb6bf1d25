// `tasks render`: what the templates of a task make of its options, without running it.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DagProcessor } from "@millrace/scheduler/dag-processor";
import { loadConfig } from "@millrace/shared/config";
import { Database } from "@millrace/shared/db";
import { createLogger } from "@millrace/shared/observability";
import { testDatabase } from "@millrace/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCaptured } from "../fixtures/capture-io.ts";

const database = await testDatabase();
const log = createLogger({ level: "silent", name: "test" });
const db = new Database({ url: database.url, applicationName: "test", maxConnections: 2, maxRetries: 2, log });
let dir = "";

const millrace = async (...argv: string[]) =>
  await runCaptured(argv, {
    MILLRACE__DATABASE__URL: database.url,
    MILLRACE__WORKERS__ARTIFACT_FOLDER: join(dir, "artifacts"),
    MILLRACE_VAR_DEPLOY_TOKEN: "hunter2-hunter2",
    MILLRACE_VAR_BUCKET: "b1",
  });

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "millrace-render-"));
  await writeFile(
    join(dir, "report.ts"),
    `import { Dag, getClient } from "@millrace/sdk";
import { bash } from "@millrace/sdk/operators";
const dag = new Dag("report", { schedule: null, params: { day: "monday" } });
const load = dag.task("load", () => 7)();
dag.task("upload", bash("aws s3 cp - s3://{{ var.value.bucket }}/{{ ds }}\\nexit", {
  env: { TOKEN: "{{ var.value.deploy_token }}", PLAIN: "x {{ var.value.deploy_token }}", DAY: "{{ params.day }}", X: "{{ dag_run.conf['x'] }}" },
}))();
dag.task("upstream", bash("echo {{ ti.xcom_pull('load') }}", { env: { ROWS: load } }))();
dag.task("wrong", bash("echo {{ params.missing }}"))();
dag.task("writes", bash(async () => { await getClient().setVariable("a", "b"); return "true"; }))();
dag.task("each", bash<{ n: number }>("echo {{ inputs.n }}")).expand({ n: [10, 20] });
dag.task("plain", () => 1)();
`,
  );
  const config = loadConfig({ env: {}, overrides: { "core.dags_folder": dir, "database.url": database.url } });
  await new DagProcessor({ db, config, log }).processOnce();
  expect(await db.read("select stacktrace from import_error")).toEqual([]);
  await millrace("dags", "trigger", "report", "-r", "one", "-l", "2026-01-31", "-c", '{"x": "given"}');
}, 60_000);

afterAll(async () => {
  await db.close();
  await rm(dir, { recursive: true, force: true });
});

describe("tasks render", { timeout: 60_000 }, () => {
  test("shows each option as it would be now, masked, though nothing has run", async () => {
    const { code, out, notes } = await millrace("tasks", "render", "report", "upload", "2026-01-31");
    expect({ code, notes }).toEqual({ code: 0, notes: "rendered now, for run one\n" });
    expect(out).toBe(
      [
        "command:",
        "  aws s3 cp - s3://b1/2026-01-31",
        "  exit",
        "env:",
        "  {",
        '    "TOKEN": "***",',
        '    "PLAIN": "x ***",',
        '    "DAY": "monday",',
        '    "X": "given"',
        "  }",
        "",
      ].join("\n"),
    );
    expect(await db.read("select from task_instance where state is not null")).toEqual([]);
  });

  test("gives programs a list of fields", async () => {
    const { out } = await millrace("tasks", "render", "report", "upload", "one", "-o", "json");
    expect(JSON.parse(out)).toMatchObject([
      { field: "command", value: "aws s3 cp - s3://b1/2026-01-31\nexit" },
      { field: "env", value: { DAY: "monday" } },
    ]);
  });

  test("renders an instance of a mapped task", async () => {
    await db.read("update task_instance set map_index = 1 where task_id = 'each'");
    const { out } = await millrace("tasks", "render", "report", "each", "one", "--map-index", "1");
    expect(out).toBe("command:\n  echo 20\n");
  });

  test("says what is not there: a name, a value of another task, a task", async () => {
    const wrong = await millrace("tasks", "render", "report", "wrong", "one");
    expect(wrong).toMatchObject({ code: 1, out: "" });
    expect(wrong.notes).toContain(
      'TemplateError: template field "command" of task "wrong": "params.missing" is not defined',
    );
    expect((await millrace("tasks", "render", "report", "upstream", "one")).notes).toContain(
      'template field "env.ROWS" of task "upstream": the task that its value comes from gave none',
    );
    expect((await millrace("tasks", "render", "report", "nope", "one")).notes).toContain("has no task nope");
    expect((await millrace("tasks", "render", "report", "plain", "one")).notes).toContain(
      "no options that are templates",
    );
  });

  test("changes nothing, whatever the file asks for", async () => {
    const { code, notes } = await millrace("tasks", "render", "report", "writes", "one");
    expect({ code, notes }).toMatchObject({
      code: 1,
      notes: expect.stringContaining("setVariable is refused: rendering changes nothing") as unknown,
    });
    expect(await db.read("select from variable")).toEqual([]);
  });

  test("shows what the last try had, unless it is asked for now", async () => {
    await db.read(
      `insert into rendered_task_instance_fields (dag_id, task_id, run_id, map_index, rendered_fields)
       values ('report', 'upload', 'one', -1, '{"command": "as it was"}')`,
    );
    const stored = await millrace("tasks", "render", "report", "upload", "one");
    expect(stored).toMatchObject({
      out: "command:\n  as it was\n",
      notes: "as the last try of run one had them\n",
    });
    expect((await millrace("tasks", "render", "report", "upload", "one", "--now")).out).toContain("s3://b1");
  });
});
