import { beforeEach, describe, expect, test } from "vitest";
import { seedDag, seedRun } from "../fixtures/seed.ts";
import { testApi } from "../fixtures/test-api.ts";
import type { Backfill } from "../types/index.ts";

const { db, database, wakes, call, get } = await testApi();
const URL = "/api/v2/backfills";
const BODY = { dag_id: "etl", from_date: "2026-01-01T00:00:00Z", to_date: "2026-01-04T00:00:00Z" };

beforeEach(async () => {
  await database.reset();
  await seedDag(db, "etl");
  wakes.length = 0;
});

const post = async (given: object = {}, url = URL) => await call("POST", url, { payload: { ...BODY, ...given } });
const created = async (given: object = {}) => (await post(given)).json<Backfill>();
const events = async () =>
  (await db.read<{ event: string }>("select event from log order by id")).map((row) => row.event);

describe("a backfill", () => {
  test("is created with Airflow's defaults, listed by DAG, and wakes the schedulers", async () => {
    const answer = await post();
    expect(answer.statusCode).toBe(200);
    const backfill = answer.json<Backfill>();
    expect(backfill).toMatchObject({
      dag_id: "etl",
      from_date: "2026-01-01T00:00:00.000Z",
      dag_run_conf: {},
      is_paused: false,
      reprocess_behavior: "none",
      max_active_runs: 10,
      completed_at: null,
      dag_display_name: "etl",
      progress: { total: 3, pending: 3, left: 3, success: 0, eta_seconds: null },
    });
    expect(wakes).toEqual([{ dagRunId: null, taskIds: null }]);
    expect(await events()).toEqual(["create_backfill"]);
    expect((await get(`${URL}?dag_id=etl`)).json()).toEqual({ backfills: [backfill], total_entries: 1 });
    expect((await get(`${URL}?dag_id=other`)).json()).toEqual({ backfills: [], total_entries: 0 });
    expect((await get(`${URL}/${backfill.id}`)).json()).toEqual(backfill);
  });

  test("keeps what it is given", async () => {
    const given = { run_backwards: true, dag_run_conf: { a: 1 }, reprocess_behavior: "completed", max_active_runs: 2 };
    expect(await created(given)).toMatchObject(given);
  });

  test("is paused, resumed and cancelled, each noted, and over after that", async () => {
    const { id } = await created();
    const put = async (what: string) => await call("PUT", `${URL}/${id}/${what}`);
    expect((await put("pause")).json()).toMatchObject({ is_paused: true, completed_at: null });
    wakes.length = 0;
    expect((await put("unpause")).json()).toMatchObject({ is_paused: false });
    expect(wakes).toHaveLength(1);
    expect((await put("cancel")).json()).toMatchObject({
      is_paused: true,
      completed_at: expect.any(String) as unknown,
      progress: { skipped: 3, left: 0, eta_seconds: 0 },
    });
    for (const what of ["pause", "unpause", "cancel"]) expect((await put(what)).statusCode).toBe(409);
    expect(await events()).toEqual(["create_backfill", "pause_backfill", "unpause_backfill", "cancel_backfill"]);
  });

  test.each<[number, object]>([
    [404, { dag_id: "nope" }],
    [422, { from_date: "2026-02-01T00:00:00Z" }],
    [422, { from_date: "2100-01-01T00:00:00Z", to_date: "2100-02-01T00:00:00Z" }],
    [422, { from_date: "yesterday" }],
    [422, { reprocess_behavior: "all" }],
    [422, { max_active_runs: 0 }],
    [422, { unknown: 1 }],
  ])("is refused with %i: %j", async (status, given) => {
    expect((await post(given)).statusCode).toBe(status);
    expect((await post(given, `${URL}/dry_run`)).statusCode).toBe(status);
    expect(await db.read("select from backfill")).toEqual([]);
  });

  test("is refused while another is active, and with what is not there", async () => {
    await created();
    const answer = await post();
    expect(answer.statusCode).toBe(409);
    expect(answer.json<{ detail: string }>().detail).toContain("active backfill");
    expect((await get(`${URL}/999`)).statusCode).toBe(404);
    expect((await call("PUT", `${URL}/999/pause`)).statusCode).toBe(404);
    expect((await get(URL)).statusCode).toBe(422);
  });
});

test("a dry run lists the dates that would run, and changes nothing", async () => {
  // Of 2026-01-01T00:00Z, which is no date of the schedule at six in Vienna.
  await seedRun(db, "etl", "one");
  await db.read("update dag_run set logical_date = '2026-01-02T05:00:00Z'");
  const answer = await post({ run_backwards: true }, `${URL}/dry_run`);
  const date = (logical_date: string) => ({ logical_date, partition_key: null, partition_date: null });
  expect(answer.json()).toEqual({
    backfills: [date("2026-01-03T05:00:00.000Z"), date("2026-01-01T05:00:00.000Z")],
    total_entries: 2,
  });
  expect(await db.read("select from backfill")).toEqual([]);
  expect([wakes, await events()]).toEqual([[], []]);
});
