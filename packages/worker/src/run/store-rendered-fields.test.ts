import type { Json } from "@millrace/sdk/spec";
import { loadConfig } from "@millrace/shared/config";
import { Database, getTaskInstance } from "@millrace/shared/db";
import { Secrets } from "@millrace/shared/secrets";
import { createLogger } from "@millrace/shared/observability";
import { testDatabase } from "@millrace/testkit";
import { afterAll, expect, test } from "vitest";
import { Labels } from "./labels.ts";
import { storeRenderedFields } from "./store-rendered-fields.ts";

const database = await testDatabase();
const log = createLogger({ level: "silent", name: "test" });
const db = new Database({ url: database.url, applicationName: "test", maxConnections: 2, maxRetries: 3, log });
afterAll(() => db.close());

const config = loadConfig({
  env: {},
  cwd: "/nonexistent",
  overrides: { "core.num_dag_runs_to_retain_rendered_fields": 2, "core.max_templated_field_length": 20 },
});

const { redactor } = new Secrets({ db, config, log });

/** A task that runs, in the run of a day of January. */
async function running(
  day: number,
): Promise<{ id: string; epoch: number; dagId: string; taskId: string; runId: string }> {
  const runId = `run_${day}`;
  const at = new Date(Date.UTC(2026, 0, day));
  await db.read(
    `insert into dag (dag_id, is_paused, bundle_name, max_active_tasks, max_active_runs) values ('d', false, 'dags-folder', 1, 1) on conflict do nothing`,
  );
  const [run] = await db.read<{ id: string }>(
    `insert into dag_run (dag_id, run_id, run_type, state, logical_date, run_after) values ('d', $1, 'manual', 'running', $2, $2) returning id`,
    [runId, at],
  );
  const [ti] = await db.read<{ id: string; epoch: number }>(
    `insert into task_instance (id, dag_run_id, dag_id, run_id, task_id, state, epoch, run_after)
     values (gen_random_uuid(), $1, 'd', $2, 't', 'running', 1, $3) returning id, epoch`,
    [run?.id, runId, at],
  );
  if (ti === undefined) throw new Error("no task instance");
  return { id: ti.id, epoch: Number(ti.epoch), dagId: "d", taskId: "t", runId };
}

const fieldsOf = async (runId: string) =>
  (await getTaskInstance(db, { dagId: "d", taskId: "t", runId })).renderedFields;

test("the fields of a running attempt are kept, cut where they are long, and those of the newest runs only", async () => {
  const attempts = [await running(1), await running(2), await running(3)];
  const fields: Record<string, Json> = { command: "echo \u0000", env: { A: ["b"] }, long: "x".repeat(21) };
  for (const attempt of attempts) await storeRenderedFields(db, attempt, fields, { config, redactor });
  expect(await fieldsOf("run_1")).toEqual({});
  for (const run of ["run_2", "run_3"]) {
    expect(await fieldsOf(run)).toEqual({
      command: "echo \\u0000",
      env: { A: ["b"] },
      long: `Truncated. It has 21 characters: ${"x".repeat(20)}`,
    });
  }
});

test("an attempt that is no longer the current one writes nothing", async () => {
  const attempt = await running(9);
  await storeRenderedFields(db, { ...attempt, epoch: attempt.epoch - 1 }, { command: "old" }, { config, redactor });
  expect(await fieldsOf(attempt.runId)).toEqual({});
  await storeRenderedFields(db, attempt, { command: "new" }, { config, redactor });
  await storeRenderedFields(db, attempt, { command: "newer" }, { config, redactor });
  expect(await fieldsOf(attempt.runId)).toEqual({ command: "newer" });
});

test("secrets that this process knows, and what stands under names of secrets, are masked before a field is cut", async () => {
  redactor.add("hunter2-canary");
  const attempt = await running(20);
  const fields = { command: "echo some hunter2-canary", env: { API_TOKEN: "whatever", OTHER: "fine" } };
  await storeRenderedFields(db, attempt, fields, { config, redactor });
  const shown = JSON.stringify(await fieldsOf(attempt.runId));
  expect(shown).toContain("echo some ***");
  expect(shown).not.toMatch(/hunter2|whatever/);
});

test("the label of an attempt is masked, cut, and written only as long as the attempt is the current one", async () => {
  const attempt = await running(28);
  redactor.add("a-long-secret");
  const labels = new Labels(db, redactor);
  const label = async () => (await getTaskInstance(db, { dagId: "d", taskId: "t", runId: "run_28" })).renderedMapIndex;
  await Promise.all([labels.write(attempt, "first"), labels.write(attempt, "with a-long-secret \u0000")]);
  expect(await label()).toBe("with *** ");
  await labels.write(attempt, `${"\u{1f600}".repeat(246)}a-long-secret`);
  expect(await label()).toBe(`${"\u{1f600}".repeat(246)}***`);
  await labels.write({ ...attempt, epoch: attempt.epoch - 1 }, "late");
  expect(await label()).toBe(`${"\u{1f600}".repeat(246)}***`);
  await labels.write(attempt, "x".repeat(300));
  expect(await label()).toBe("x".repeat(250));
});
