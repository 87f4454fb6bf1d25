import { lockLostAttempts } from "@millrace/shared/db";
import { createLogger } from "@millrace/shared/observability";
import { expect, test } from "vitest";
import type { ActorDeps } from "../deps.ts";
import { installation } from "../fixtures/installation.ts";
import { handleLostAttempts } from "./handle-lost-attempts.ts";

const on = await installation();
const log = createLogger({ level: "silent", name: "test" });

/** An attempt that runs, last heard of an hour ago, and who judges it. */
const start = async () => {
  await on.seedDag("dag", { a: { retries: 2 } });
  const { db, versions, config } = on;
  const seed = await db.read<{ id: string }>(
    `insert into dag_run (dag_id, run_id, run_type, state, run_after, created_dag_version_id)
     select dag_id, 'r', 'manual', 'running', now(), id from dag_version where dag_id = 'dag' returning id`,
  );
  await db.read(
    `insert into task_instance (id, dag_run_id, dag_id, run_id, task_id, run_after, dag_version_id, state, epoch, try_number,
       max_tries, worker_job_id, latest_heartbeat, start_date)
     select gen_random_uuid(), r.id, r.dag_id, r.run_id, 'a', r.run_after, r.created_dag_version_id, 'running', 3, 1, 2, 7,
       now() - interval '1 hour', now() - interval '1 hour' from dag_run r where r.id = $1`,
    [seed[0]?.id],
  );
  const judge = async () =>
    await db.transaction(async (tx) => {
      const deps: ActorDeps = { tx, versions, config, log };
      return await handleLostAttempts(deps);
    });
  return { db, judge };
};

test("a lost worker costs the task no retry, and is counted", async () => {
  const { db, judge } = await start();
  expect(await judge()).toHaveLength(1);
  expect(await db.read("select state, max_tries, infra_failures from task_instance")).toEqual([
    { state: "up_for_retry", max_tries: 3, infra_failures: 1 },
  ]);
  expect(await judge()).toEqual([]);
});

test("who looks while another judges passes by at once", async () => {
  const { db, judge } = await start();
  await db.transaction(async (tx) => {
    expect(await tx.run(lockLostAttempts, [1, 10])).toHaveLength(1);
    expect(await judge()).toEqual([]);
  });
  expect(await judge()).toHaveLength(1);
});

test("nobody is lost before Postgres has been up for one whole lease", async () => {
  const { db } = await start();
  await db.read("update task_instance set latest_heartbeat = now() - interval '10 years'");
  const [up] = await db.read<{ seconds: number }>(
    "select extract(epoch from now() - pg_postmaster_start_time())::float8 as seconds",
  );
  expect(await db.run(lockLostAttempts, [(up?.seconds ?? 0) + 60, 10])).toEqual([]);
  expect(await db.run(lockLostAttempts, [(up?.seconds ?? 0) / 2, 10])).toHaveLength(1);
});

test("a lost attempt of a DAG that only newer schedulers understand is left to them", async () => {
  const { db, judge } = await start();
  await db.read(`update serialized_dag set data = data || '{"format": 1000}'`);
  expect(await judge()).toEqual([]);
  expect(await db.read("select state, infra_failures from task_instance")).toEqual([
    { state: "running", infra_failures: 0 },
  ]);
});
