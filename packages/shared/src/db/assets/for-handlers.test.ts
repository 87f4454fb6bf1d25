import { testDatabase } from "@millrace/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDatabase, seedDag, seedRun, type SeededDag } from "../fixtures/seed.ts";
import { readEventsFor, readRunEvents } from "./for-handlers.ts";

const database = await testDatabase();
const db = openDatabase(database.url);
afterAll(() => db.close());

const events = async (count: number, bytes: number): Promise<void> => {
  await db.read(
    `insert into asset_event (asset_id, extra, timestamp)
     select a.id, jsonb_build_object('n', n, 'text', repeat('x', $2)), '2026-01-01'::timestamptz + n * interval '1 ms'
     from asset a, generate_series(1, $1) n`,
    [count, bytes],
  );
};
const runOf = async (runId: string): Promise<number> => {
  const id = await seedRun(db, dag, runId, { runType: "asset_triggered" });
  await db.read(`insert into dagrun_asset_event (dag_run_id, event_id) select $1, id from asset_event`, [id]);
  return id;
};
const numbers = (found: readonly { readonly extra: Readonly<Record<string, unknown>> }[]) =>
  found.map(({ extra }) => extra["n"]);

let dag: SeededDag;
beforeAll(async () => {
  dag = await seedDag(db, "d");
  await db.read(`insert into asset (name, uri) values ('a', 'a')`);
});

test("a handler is given events in their order, with all that they say", async () => {
  await events(3, 10);
  const found = await readRunEvents(db, await runOf("small"));
  expect(numbers(found)).toEqual([1, 2, 3]);
  expect(found[0]).toMatchObject({ name: "a", extra: { n: 1, text: "x".repeat(10) }, sourceDagId: null, aliases: [] });
  expect(found[0]).not.toHaveProperty("bytes");
  expect(numbers(await readEventsFor(db, { name: "a", limit: 2, ascending: true }))).toEqual([1, 2]);
  expect(numbers(await readEventsFor(db, { name: "a", limit: 2, ascending: false }))).toEqual([3, 2]);
});

test("more events than a worker should hold at once are refused, and not read first", async () => {
  await db.read(`delete from asset_event`);
  await events(65, 1024 * 1024);
  const runId = await runOf("large");
  await expect(readRunEvents(db, runId)).rejects.toMatchObject({
    code: "ASSET_EVENTS_TOO_LARGE",
    message: expect.stringMatching(/^The extras of the 65 events that the run is made of take 681\d{5} bytes of JSON/),
  });
  await expect(readEventsFor(db, { name: "a", limit: 100, ascending: true })).rejects.toThrow(
    "Ask for fewer at a time",
  );
  expect(numbers(await readEventsFor(db, { name: "a", limit: 3, ascending: false }))).toEqual([65, 64, 63]);
});
