// Millrace in its distributed form for a test: every process of its own, on the test run's Postgres and Redis, reading a
// folder that holds the examples and the tests' own DAGs.
import { cp, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startProcess, waitUntil, type MillraceProcess, type TestDatabase } from "@millrace/testkit";
import pg from "pg";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

export interface Fleet {
  readonly folder: string;
  readonly client: pg.Client;
  start(args: readonly string[]): Promise<MillraceProcess>;
  /** Runs a command to its end and gives its standard output's lines. */
  command(args: readonly string[]): Promise<readonly string[]>;
  /** Runs a command that may fail to its end. */
  attempt(
    args: readonly string[],
    env: Readonly<Record<string, string>>,
  ): Promise<{ code: number | null; lines: readonly string[] }>;
  /** Waits until the run has ended and gives the states of its tasks. */
  ended(dagId: string, runId: string, timeoutMs?: number): Promise<{ state: string; tasks: Record<string, string> }>;
  query<R extends pg.QueryResultRow>(sql: string, params?: readonly unknown[]): Promise<R[]>;
  close(): Promise<void>;
}

export async function openFleet(
  database: Pick<TestDatabase, "url">,
  redisUrl: string,
  weatherUrl: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<Fleet> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-fleet-"));
  const dags = join(folder, "dags");
  await cp(join(ROOT, "examples"), dags, {
    recursive: true,
    filter: (path) => !/node_modules|dist|test/.test(path.slice(ROOT.length)),
  });
  await cp(join(ROOT, "tests/e2e/dags"), dags, { recursive: true });
  await symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  const client = new pg.Client(database.url);
  await client.connect();
  const env = {
    MILLRACE__DATABASE__URL: database.url,
    MILLRACE__BROKER__URL: redisUrl,
    MILLRACE__CORE__DAGS_FOLDER: dags,
    MILLRACE__LOGGING__BASE_LOG_FOLDER: join(folder, "logs"),
    MILLRACE__WORKERS__ARTIFACT_FOLDER: join(folder, "artifacts"),
    MILLRACE__WORKERS__CONCURRENCY: "3",
    MILLRACE__SCHEDULER__TASK_INSTANCE_HEARTBEAT_SEC: "1",
    MILLRACE__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT: "3",
    MILLRACE__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT_DETECTION_INTERVAL: "0.5",
    MILLRACE__SCHEDULER__TASK_REDISPATCH_AFTER: "3",
    MILLRACE__TRIGGERER__JOB_HEARTBEAT_SEC: "0.5",
    MILLRACE__TRIGGERER__TRIGGERER_HEALTH_CHECK_THRESHOLD: "2",
    MILLRACE__API__PORT: "0",
    MILLRACE__API_AUTH__ADMIN_PASSWORD: "let me in",
    MILLRACE_VAR_WEATHER_REPORT_FOLDER: join(folder, "reports"),
    MILLRACE_CONN_WEATHER_DB: weatherUrl,
    ...settings,
  };
  const query = async <R extends pg.QueryResultRow>(sql: string, params: readonly unknown[] = []): Promise<R[]> =>
    (await client.query<R>(sql, [...params])).rows;
  const processes: MillraceProcess[] = [];
  return {
    folder,
    client,
    query,
    start: async (args) => {
      const started = startProcess({ args, env, cwd: folder });
      processes.push(started);
      await started.waitForLine(/ is ready/, 40_000);
      return started;
    },
    command: async (args) => {
      const started = startProcess({ args, env, cwd: folder });
      const exit = await started.exited;
      if (exit.code !== 0)
        throw new Error(`millrace ${args.join(" ")} ended with ${exit.code}:\n${started.lines.join("\n")}`);
      return started.lines;
    },
    attempt: async (args, more) => {
      const started = startProcess({ args, env: { ...env, ...more }, cwd: folder });
      const { code } = await started.exited;
      return { code, lines: started.lines };
    },
    ended: async (dagId, runId, timeoutMs = 60_000) => {
      const state = await waitUntil(
        async () => {
          const [run] = await query<{ state: string }>("select state from dag_run where dag_id = $1 and run_id = $2", [
            dagId,
            runId,
          ]);
          return run !== undefined && ["success", "failed"].includes(run.state) ? run.state : undefined;
        },
        { what: `run ${runId} of ${dagId} has ended`, timeoutMs },
      );
      const tasks = await query<{ task_id: string; state: string }>(
        "select task_id, coalesce(state, 'none') as state from task_instance where dag_id = $1 and run_id = $2",
        [dagId, runId],
      );
      return { state, tasks: Object.fromEntries(tasks.map((task) => [task.task_id, task.state])) };
    },
    close: async () => {
      await Promise.all(processes.map((started) => started.dispose()));
      await client.end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
