// The examples as files, and the handlers of the weather DAG against a real database. That they run from end to end on
// real processes is shown in tests/.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bundleDagFile, DagProcessor } from "@millrace/scheduler/dag-processor";
import type { Artifact, ConnectionValue, RunHost, RunRequest } from "@millrace/sdk/runtime";
import type { Json } from "@millrace/sdk/spec";
import { runInProcess } from "@millrace/sdk/testing";
import { loadConfig } from "@millrace/shared/config";
import { Database } from "@millrace/shared/db";
import { createLogger } from "@millrace/shared/observability";
import { testDatabase } from "@millrace/testkit";
import { afterAll, expect, test } from "vitest";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const database = await testDatabase();
const log = createLogger({ level: "silent", name: "test" });
const db = new Database({ url: database.url, applicationName: "test", maxConnections: 3, maxRetries: 3, log });
const folder = await mkdtemp(join(tmpdir(), "millrace-examples-"));
afterAll(async () => {
  await db.close();
  await rm(folder, { recursive: true });
});

test("every example is read without an error or a warning and starts unpaused", async () => {
  const config = loadConfig({ env: {}, cwd: folder, overrides: { "core.dags_folder": HERE } });
  await new DagProcessor({ db, config, log }).processOnce();
  expect(await db.read("select filename, stacktrace from import_error")).toEqual([]);
  expect(await db.read("select * from dag_warning")).toEqual([]);
  const dags = await db.read<{ dag_id: string }>("select dag_id from dag where not is_paused order by 1");
  expect(dags.map((dag) => dag.dag_id)).toEqual([
    ...[
      "airflow_native",
      "airflow_native_report",
      "assets_orders",
      "assets_refunds",
      "assets_report",
      "branching",
      "hello",
      "operators",
      "question",
      "retries_pools",
      "sensors",
      "waiting",
      "weather",
    ],
  ]);
  const [weather] = await db.read("select next_dagrun, max_active_runs from dag where dag_id = 'weather'");
  expect(weather).toEqual({ next_dagrun: new Date("2012-01-01T00:00:00Z"), max_active_runs: 3 });
});

test("the weather of a day is one row and one report, however often its tasks run", async () => {
  const run = await weatherTasks();
  for (const date of ["2012-01-01", "2012-01-02", "2012-01-02"]) {
    const day = await run("check", date, { day: await run("extract", date) });
    const month = await run("sum_up_month", date, { date: await run("load", date, { day }) });
    expect(await run("is_rainy", date, { day })).toBe(date === "2012-01-02");
    await run("report", date, { day, month, wet: "Take an umbrella." });
  }
  const rows = await db.read("select date::text, precipitation, weather from weather_day order by 1");
  expect(rows).toEqual([
    { date: "2012-01-01", precipitation: 0, weather: "drizzle" },
    { date: "2012-01-02", precipitation: 10.9, weather: "rain" },
  ]);
  expect(await readFile(join(folder, "2012-01-02.md"), "utf8")).toBe(
    "# Seattle, 2012-01-02\n\nrain, 2.8 to 10.6 °C, 10.9 mm. Take an umbrella.\n\n2012-01 so far: 2 days, 10.9 mm, 12.8 °C at most.\n",
  );
});

test("the examples that wait for no one end by themselves in a few seconds", { timeout: 60_000 }, async () => {
  for (const name of ["waiting", "sensors"]) {
    const artifact = await load(name);
    const reading = artifact.dags()[0];
    if (reading === undefined || !("spec" in reading)) throw new Error(JSON.stringify(reading));
    const { state, tasks } = await runInProcess(artifact, reading.spec, { logicalDate: Date.now() });
    expect({ state, errors: tasks.flatMap((task) => task.error?.message ?? []) }).toEqual({
      state: "success",
      errors: [],
    });
  }
});

type Values = Readonly<Record<string, Json>>;

async function weatherTasks(): Promise<(taskId: string, date: string, inputs?: Values) => Promise<Json>> {
  const artifact = await load("weather");
  return async (taskId, date, inputs = {}) => {
    const outcome = await artifact.run(requestOf(taskId, date, inputs), host());
    if (outcome.kind !== "success") throw new Error(`${taskId}: ${JSON.stringify(outcome)}`);
    return outcome.returnValue ?? null;
  };
}

async function load(name: string): Promise<Artifact> {
  const bundle = await bundleDagFile(join(HERE, `${name}.ts`));
  if ("problems" in bundle) throw new Error(JSON.stringify(bundle.problems));
  const file = join(folder, `${bundle.hash}.mjs`);
  await writeFile(file, bundle.code);
  const { artifact } = (await import(pathToFileURL(file).href)) as { readonly artifact: Artifact };
  return artifact;
}

const requestOf = (taskId: string, date: string, inputs: Values): RunRequest => ({
  dagId: "weather",
  taskId,
  runId: `scheduled__${date}`,
  mapIndex: -1,
  tryNumber: 1,
  maxTries: 3,
  logicalDate: `${date}T00:00:00.000Z`,
  dataIntervalStart: `${date}T00:00:00.000Z`,
  dataIntervalEnd: `${date}T23:59:59.000Z`,
  runAfter: `${date}T23:59:59.000Z`,
  runType: "scheduled",
  conf: {},
  params: {},
  inputs,
});

function host(): RunHost {
  const url = new URL(database.url);
  const weatherDb: ConnectionValue = {
    connectionId: "weather_db",
    connType: "postgres",
    host: url.hostname,
    port: Number(url.port),
    schema: url.pathname.slice(1),
    login: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
  };
  const none = () => Promise.resolve(undefined);
  return {
    signal: new AbortController().signal,
    log: () => undefined,
    getXCom: none,
    setXCom: none,
    getVariable: (key) => Promise.resolve(key === "weather_report_folder" ? folder : undefined),
    setVariable: none,
    deleteVariable: none,
    getConnection: (id) => Promise.resolve(id === "weather_db" ? weatherDb : undefined),
    processGroup: () => undefined,
  };
}
