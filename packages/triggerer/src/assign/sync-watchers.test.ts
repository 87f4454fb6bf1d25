// Watchers in the tables: encrypted there, and left alone while what their DAG says of them stays the same.
import { DagVersions, Database } from "@millrace/shared/db";
import { createLogger } from "@millrace/shared/observability";
import { Cipher, openKept, triggerPlace } from "@millrace/shared/secrets";
import { testDatabase } from "@millrace/testkit";
import { afterAll, beforeEach, expect, test } from "vitest";
import { syncWatchers } from "./sync-watchers.ts";

const database = await testDatabase();
const log = createLogger({ level: "silent", name: "test" });
const db = new Database({ url: database.url, applicationName: "test", maxConnections: 2, maxRetries: 3, log });
afterAll(() => db.close());

const KEY = "a key of thirty-two characters or more";
const OTHER = "another key of thirty-two characters";
const CANARY = "c4n4ry-of-a-watcher";

/** A DAG that is scheduled on an asset with a watcher; its newest version. */
async function seed(kwargs: Readonly<Record<string, unknown>>): Promise<void> {
  const watchers = [{ name: "w", trigger: { name: "millrace.http", kwargs } }];
  const schedule = { kind: "assets", assets: { asset: { name: "a", uri: "a", watchers } } };
  const spec = { dagId: "dag", schedule, tasks: [], groups: [], callbacks: [], params: {}, tags: [] };
  await db.read("insert into dag_artifact (hash, code, source_map) values ('h', '', '{}') on conflict do nothing");
  await db.read(
    `with d as (insert into dag (dag_id, is_paused, bundle_name, max_active_tasks, max_active_runs)
       values ('dag', false, 'dags-folder', 16, 16) on conflict do nothing)
     insert into dag_version (id, dag_id, version_number, artifact_hash)
     select gen_random_uuid(), 'dag', count(*) + 1, 'h' from dag_version returning id`,
  );
  await db.read(
    `insert into serialized_dag (id, dag_id, data, dag_hash, dag_version_id)
     select gen_random_uuid(), 'dag', $1, 'h', id from dag_version order by version_number desc limit 1`,
    [JSON.stringify(spec)],
  );
  await db.read("insert into asset (name, uri) values ('a', 'a') on conflict do nothing");
  await db.read("insert into asset_active (name, uri) values ('a', 'a') on conflict do nothing");
  await db.read(
    `insert into dag_schedule_asset_reference (asset_id, dag_id) select id, 'dag' from asset on conflict do nothing`,
  );
}

beforeEach(() => database.reset());

const sync = (...keys: readonly string[]) => syncWatchers(db, new DagVersions(db), new Cipher(keys));
const stored = async () => (await db.read<{ id: number; kwargs: string }>("select id, kwargs from trigger"))[0];

test("what a watcher is given is encrypted, and one that did not change is the same after a look, and after another key", async () => {
  await seed({ token: CANARY });
  expect(await sync(KEY)).toBe(true);
  const first = await stored();
  expect(first?.kwargs).not.toContain(CANARY);
  expect(JSON.parse(openKept(new Cipher([KEY]), first?.kwargs ?? "", triggerPlace(null, "dag")))).toEqual({
    token: CANARY,
  });
  expect(await sync(KEY)).toBe(false);
  expect(await sync(OTHER, KEY)).toBe(false);
  await seed({ token: CANARY });
  expect(await sync(KEY)).toBe(false);
  expect(await stored()).toEqual(first);
});

test("one whose arguments changed, or which no key opens any more, is made anew", async () => {
  await seed({ token: CANARY });
  await sync(KEY);
  const first = await stored();
  expect(await sync(OTHER)).toBe(true);
  const second = await stored();
  expect(second?.id).not.toBe(first?.id);
  await seed({ token: "changed" });
  expect(await sync(OTHER)).toBe(true);
  expect((await stored())?.id).not.toBe(second?.id);
});

test("without a key it stands as it is", async () => {
  await seed({ token: CANARY });
  await sync();
  expect((await stored())?.kwargs).toBe(JSON.stringify({ token: CANARY }));
  expect(await sync()).toBe(false);
  // With one it stays as it is until secrets are rotated.
  expect(await sync(KEY)).toBe(false);
});
