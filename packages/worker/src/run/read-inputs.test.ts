import { loadConfig } from "@millrace/shared/config";
import { Database, type ClaimedAttempt } from "@millrace/shared/db";
import { buildDagGraph } from "@millrace/shared/model";
import { createLogger } from "@millrace/shared/observability";
import { XComs } from "@millrace/shared/xcoms";
import { testDatabase } from "@millrace/testkit";
import { dagSpec, taskSpec } from "@millrace/testkit/specs";
import { afterAll, expect, test } from "vitest";
import { Inputs } from "./read-inputs.ts";

const database = await testDatabase();
const log = createLogger({ level: "silent", name: "test" });
const db = new Database({ url: database.url, applicationName: "test", maxConnections: 2, maxRetries: 3, log });
afterAll(() => db.close());

const N = 2_500;

test("all that a long mapped task returned is given, in the order of its indexes, without those that returned nothing", async () => {
  await db.read(
    "insert into dag (dag_id, is_paused, bundle_name, max_active_tasks, max_active_runs) values ('d', false, 'dags-folder', 1, 1)",
  );
  const [run] = await db.read<{ id: number }>(
    "insert into dag_run (dag_id, run_id, run_type, state, run_after) values ('d', 'r', 'manual', 'running', now()) returning id",
  );
  await db.read(
    `insert into task_instance (id, dag_run_id, dag_id, run_id, task_id, map_index, state, run_after)
     select gen_random_uuid(), $1, 'd', 'r', 'each', g, case when g % 7 = 0 then 'skipped' else 'success' end, now()
     from generate_series($2::int - 1, 0, -1) g`,
    [run?.id, N],
  );
  await db.read(
    `insert into xcom (dag_run_id, task_id, map_index, key, dag_id, run_id, value)
     select dag_run_id, task_id, map_index, 'return_value', dag_id, run_id, to_jsonb(map_index)
     from task_instance where state = 'success'`,
  );
  const graph = buildDagGraph(
    dagSpec([
      taskSpec("each", {
        mapping: { kind: "expand", lists: [{ name: "n", source: { kind: "literal", values: [1] } }] },
      }),
      taskSpec("sum", { upstream: ["each"], inputs: { all: { kind: "xcom", taskId: "each", path: [] } } }),
    ]),
  );
  const node = graph.tasks.get("sum");
  if (node === undefined) throw new Error("no such task");
  const attempt = {
    dagId: "d",
    runId: "r",
    dagRunId: run?.id,
    mapIndex: -1,
  } as Partial<ClaimedAttempt> as ClaimedAttempt;
  const inputs = new Inputs(db, new XComs(db, loadConfig({ env: {}, cwd: "/nonexistent" })));
  const { inputs: found } = await inputs.of(attempt, node, graph);
  expect(found).toEqual({ all: Array.from({ length: N }, (_, i) => i).filter((i) => i % 7 !== 0) });
});
