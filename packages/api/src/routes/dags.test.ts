import { beforeEach, describe, expect, test } from "vitest";
import { seedDag, seedRun, SOURCE } from "../fixtures/seed.ts";
import { testApi } from "../fixtures/test-api.ts";
import type { DagCollection, DagLines, DagPreview } from "../types/index.ts";

const { api, db, database, wakes, call, get } = await testApi();

beforeEach(async () => {
  await database.reset();
  wakes.length = 0;
  await seedDag(db, "etl");
  await seedDag(db, "report", { paused: true });
});

describe("GET /dags", () => {
  test("lists them with Airflow's fields", async () => {
    const { dags, total_entries } = (await get("/api/v2/dags")).json<DagCollection>();
    expect(total_entries).toBe(2);
    expect(dags[0]).toMatchObject({ dag_id: "etl", is_paused: false, owners: ["ada"], timetable_summary: "0 6 * * *" });
  });

  test("filters, sorts and pages", async () => {
    const ids = async (query: string) =>
      (await get(`/api/v2/dags?${query}`)).json<DagCollection>().dags.map((dag) => dag.dag_id);
    expect(await ids("paused=true")).toEqual(["report"]);
    expect(await ids("dag_id_pattern=et")).toEqual(["etl"]);
    expect(await ids("order_by=-dag_id")).toEqual(["report", "etl"]);
    expect(await ids("limit=1&offset=1")).toEqual(["report"]);
    expect(await ids("limit=0")).toEqual([]);
    expect(await ids("limit=100000")).toHaveLength(2);
  });

  test.each(["limit=-1", "limit=x", "offset=-1", "paused=maybe", "tags_match_mode=some", "last_dag_run_state=odd"])(
    "says what is wrong with ?%s",
    async (query) => {
      const answer = await get(`/api/v2/dags?${query}`);
      expect(answer.statusCode).toBe(422);
      const { detail } = answer.json<{ detail: { loc: string[]; msg: string; type: string }[] }>();
      expect(detail[0]?.loc).toEqual(["query", query.split("=")[0]]);
    },
  );

  test("refuses an unknown sort key with 400", async () => {
    expect((await get("/api/v2/dags?order_by=secret")).statusCode).toBe(400);
    expect((await get(`/api/v2/dags?order_by=${encodeURIComponent("dag_id; select 1")}`)).statusCode).toBe(400);
  });
});

describe("GET /dags/{dag_id}/preview", () => {
  const ask = async (query = "") => (await get(`/api/v2/dags/report/preview?${query}`)).json<DagPreview>();

  test("says which runs an unpause creates, at which local and universal times, with what clocks do", async () => {
    expect(await ask()).toMatchObject({
      is_held: true,
      timezone: "Europe/Vienna",
      timetable_summary: "0 6 * * *",
      summary: expect.stringMatching(/^report is paused and creates no runs\. Unpausing it now would create/),
    });
    const range =
      "unpause=true&from=2026-03-28T12:00:00Z&to=2026-03-30T12:00:00Z&schedule=30%202%20*%20*%20*&timezone=Europe/Vienna";
    const shown = await ask(range);
    expect(shown).toMatchObject({ is_held: false, total: 2 });
    expect(shown.runs.map((run) => [run.run_after, run.local.run_after, run.is_due, ...run.remarks])).toEqual([
      [
        "2026-03-29T01:30:00.000Z",
        "2026-03-29T03:30:00+02:00",
        true,
        "02:30 does not exist on this day: runs at 03:30",
        "clocks go forward in its interval, which has 24 hours",
      ],
      ["2026-03-30T00:30:00.000Z", "2026-03-30T02:30:00+02:00", true],
    ]);
    expect(await db.read("select from dag_run")).toEqual([]);
  });

  test("refuses what makes no sense, with the reason", async () => {
    const refusal = async (query: string) => await get(`/api/v2/dags/report/preview?${query}`);
    expect((await refusal("limit=-1")).statusCode).toBe(422);
    expect((await refusal("catchup=some")).statusCode).toBe(422);
    const impossible = await refusal("schedule=0%200%2031%202%20*");
    expect(impossible.statusCode).toBe(400);
    expect(impossible.body).toContain("no date matches it, ever");
    expect((await refusal("from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z")).body).toContain("before it starts");
    expect((await get("/api/v2/dags/nope/preview")).statusCode).toBe(404);
  });
});

test("GET /dagWarnings lists what is doubtful about DAGs", async () => {
  await db.read(
    "insert into dag_warning (dag_id, warning_type, message) values ('etl', 'timetable error', 'it throws')",
  );
  expect((await get("/api/v2/dagWarnings?dag_id=etl")).json()).toMatchObject({
    dag_warnings: [{ dag_id: "etl", warning_type: "timetable error", message: "it throws", dag_display_name: "etl" }],
    total_entries: 1,
  });
  expect((await get("/api/v2/dagWarnings?dag_id=report")).json()).toMatchObject({ total_entries: 0 });
});

describe("one DAG", () => {
  test("is read, or is not there", async () => {
    expect((await get("/api/v2/dags/etl")).json()).toMatchObject({ dag_id: "etl" });
    const missing = await get("/api/v2/dags/nope");
    expect([missing.statusCode, missing.json()]).toEqual([
      404,
      { detail: "There is no DAG nope. `millrace dags list` shows those that were read." },
    ]);
    expect((await get("/api/v2/dags/%00")).statusCode).toBe(422);
  });

  test("is paused and unpaused; an unpause plans it and wakes the schedulers", async () => {
    const paused = await call("PATCH", "/api/v2/dags/etl", { payload: { is_paused: true } });
    expect(paused.json()).toMatchObject({ is_paused: true });
    expect(wakes).toEqual([]);
    const unpaused = await call("PATCH", "/api/v2/dags/etl", { payload: { is_paused: false } });
    expect(unpaused.json()).toMatchObject({ is_paused: false, next_dagrun_run_after: "2026-01-02T05:00:00.000Z" });
    expect(wakes).toHaveLength(1);
    expect(await db.read("select event, owner from log order by id")).toEqual([
      { event: "pause_dag", owner: "admin" },
      { event: "unpause_dag", owner: "admin" },
    ]);
  });

  test.each([{}, { is_paused: null }, { is_paused: "true" }, { is_paused: true, dag_id: "x" }, "not json", ""])(
    "is not patched with %j",
    async (payload) => {
      const headers = { "content-type": "application/json" };
      expect((await call("PATCH", "/api/v2/dags/etl", { payload, headers })).statusCode).toBe(422);
      expect(await db.read("select from log")).toEqual([]);
    },
  );

  test("has a source and versions", async () => {
    expect((await get("/api/v2/dagSources/etl")).json()).toMatchObject({ content: SOURCE, version_number: 1 });
    expect((await get("/api/v2/dagSources/etl", { accept: "text/plain" })).body).toBe(SOURCE);
    expect((await get("/api/v2/dagSources/etl?version_number=7")).statusCode).toBe(404);
    expect((await get("/api/v2/dagSources/etl?version_number=0")).statusCode).toBe(422);
    expect((await get("/api/v2/dagSources/nope")).statusCode).toBe(404);
    expect((await get("/api/v2/dags/etl/dagVersions")).json()).toMatchObject({
      dag_versions: [{ version_number: 1, dag_id: "etl" }],
      total_entries: 1,
    });
    expect((await get("/api/v2/dags/nope/dagVersions")).statusCode).toBe(404);
  });
});

test("the list of our pages has the last runs of each DAG, oldest first", async () => {
  for (const run of ["one", "two"]) await seedRun(db, "etl", run);
  const { dags } = (await get("/ui/dags")).json<DagLines>();
  expect(dags.map((dag) => dag.recent_runs.map((run) => run.dag_run_id))).toEqual([["one", "two"], []]);
  expect((await get("/ui/dags?limit=x")).statusCode).toBe(422);
});

test("a failure tells the client an id, and the log the rest", async () => {
  await db.read("alter table dag rename to dag_away");
  try {
    const answer = await get("/api/v2/dags");
    expect(answer.statusCode).toBe(500);
    expect(answer.body).not.toMatch(/relation|select|\.ts|stack/i);
    // Health tells of it and is still 200.
    expect((await api.inject("/api/v2/monitor/health")).statusCode).toBe(200);
  } finally {
    await db.read("alter table dag_away rename to dag");
  }
});
