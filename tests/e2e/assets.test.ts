// Assets with every process on its own: a task's outlet starts a second DAG and that a third, a watcher starts one, and an
// event through the API and the command line does what the outlet does.
import { testDatabase, testRedisUrl, waitUntil } from "@millrace/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openFleet, type Fleet } from "./fleet.ts";

const database = await testDatabase();
const redisUrl = await testRedisUrl();
let fleet: Fleet;
let api: (path: string, payload?: object) => Promise<Response>;

/** The API as a process of its own, asked over a socket. */
async function openApi(): Promise<typeof api> {
  const started = await fleet.start(["api"]);
  const base = /http:\/\/[^\s"]+/.exec(await started.waitForLine(/is ready/))?.[0].replace(/\/$/, "") ?? "";
  const headers = { "content-type": "application/json" };
  const credentials = JSON.stringify({ username: "admin", password: "let me in" });
  const answer = await fetch(`${base}/auth/token`, { method: "POST", headers, body: credentials });
  const { access_token: token } = (await answer.json()) as { access_token: string };
  const authorized = { ...headers, authorization: `Bearer ${token}` };
  return async (path, payload) =>
    await fetch(
      `${base}/api/v2${path}`,
      payload === undefined
        ? { headers: authorized }
        : { method: "POST", headers: authorized, body: JSON.stringify(payload) },
    );
}

beforeAll(async () => {
  fleet = await openFleet(database, redisUrl, database.url, {
    MILLRACE__CORE__DAGS_FOLDER: new URL("./dags", import.meta.url).pathname,
  });
  await fleet.start(["dag-processor"]);
  await waitUntil(async () => (await fleet.query("select from dag where dag_id like 'assets_%'")).length === 5, {
    what: "the DAGs are read",
    timeoutMs: 60_000,
  });
  expect(await fleet.query("select stacktrace from import_error where filename = 'assets.ts'")).toEqual([]);
  await fleet.query("update dag set is_paused = true where dag_id not like 'assets_%'");
  await Promise.all([
    fleet.start(["scheduler"]),
    fleet.start(["scheduler"]),
    fleet.start(["worker"]),
    fleet.start(["triggerer"]),
  ]);
  api = await openApi();
}, 180_000);
afterAll(() => fleet.close());

const runsOf = (dagId: string) =>
  fleet.query<{ run_id: string; state: string; value: unknown }>(
    `select r.run_id, r.state, (select x.value from xcom x where x.dag_run_id = r.id and x.key = 'return_value') as value
     from dag_run r where r.dag_id = $1 order by r.id`,
    [dagId],
  );
const succeeded = async (dagId: string, count: number) =>
  await waitUntil(
    async () => {
      const runs = await runsOf(dagId);
      return runs.length >= count && runs.every((run) => run.state === "success") ? runs : undefined;
    },
    { what: `${count} runs of ${dagId} have succeeded`, timeoutMs: 40_000 },
  ).catch(async (error: unknown) => {
    console.log(await fleet.query("select dag_id, task_id, state, state_reason from task_instance"));
    throw error;
  });

describe("assets", { timeout: 120_000 }, () => {
  it("a success starts the DAG that waits for all it updated, and that one the next, with the events of each", async () => {
    await fleet.command(["dags", "trigger", "assets_first", "-r", "one"]);
    expect((await succeeded("assets_second", 1))[0]?.value).toEqual({
      rows: 12,
      from: "assets_first",
      events: 2,
      known: 1,
    });
    expect((await succeeded("assets_third", 1))[0]?.value).toEqual({
      uri: "s3://lake/part/12",
      before: 0,
      type: "asset_triggered",
    });
    await fleet.command(["dags", "trigger", "assets_first", "-r", "two"]);
    expect((await succeeded("assets_third", 2))[1]?.value).toMatchObject({ before: 1 });
    expect(await runsOf("assets_second")).toHaveLength(2);
    expect(await fleet.query("select from asset_dag_run_queue")).toEqual([]);
  });

  it("each event of a watcher's trigger is an event of its asset, as long as the DAG is not paused", async () => {
    const watchers = () => fleet.query("select from asset_watcher");
    await waitUntil(async () => (await watchers()).length === 1, { what: "it is watched", timeoutMs: 20_000 });
    for (const [at, letter] of ["one", "two"].entries()) {
      await fleet.query("insert into variable (key, val) values ('e2e_letter', $1)", [letter]);
      const runs = await succeeded("assets_watched", at + 1);
      expect(runs[at]?.value).toEqual([{ from_trigger: true, payload: { value: letter } }]);
    }
    await fleet.command(["dags", "pause", "assets_watched"]);
    await waitUntil(async () => (await watchers()).length === 0, { what: "nobody watches", timeoutMs: 20_000 });
  });

  it("a DAG of assets or time has its interval by time, and a run for each event that comes from outside", async () => {
    expect((await succeeded("assets_either", 1))[0]?.value).toEqual({
      runType: "scheduled",
      hasDate: true,
      events: [],
    });
    const { assets } = (await (await api("/assets?name_pattern=e2e_outside")).json()) as { assets: { id: number }[] };
    const created = await api("/assets/events", { asset_id: assets[0]?.id, extra: { n: 1 } });
    expect(created.status).toBe(200);
    const event = { n: 1, from_rest_api: true };
    const [, second] = await succeeded("assets_either", 2);
    expect(second?.value).toEqual({ runType: "asset_triggered", hasDate: false, events: [event] });
    const runId = encodeURIComponent(second?.run_id ?? "");
    expect(await (await api(`/dags/assets_either/dagRuns/${runId}/upstreamAssetEvents`)).json()).toMatchObject({
      asset_events: [{ name: "e2e_outside", extra: event, created_dagruns: [{ run_id: second?.run_id }] }],
    });
    const told = (await fleet.command(["explain", "assets_either"])).join("\n");
    expect(told).toMatch(/its next run is due at \d{4}-01-01T00:00:00Z/);
    expect(told).toContain(`is in run ${second?.run_id}; no task updates it`);
    expect((await fleet.command(["assets", "events", "e2e_outside"])).join("\n")).toContain(second?.run_id);
  });

  it("what waits for the rest of a condition is shown and dropped over HTTP, and starts nothing then", async () => {
    const { assets } = (await (await api("/assets?name_pattern=e2e_marker")).json()) as { assets: { id: number }[] };
    const before = (await runsOf("assets_second")).length;
    await api("/assets/events", { asset_id: assets[0]?.id });
    expect(await (await api("/dags/assets_second/assets/queuedEvents")).json()).toMatchObject({ total_entries: 1 });
    const told = (await fleet.command(["explain", "assets_second"])).join("\n");
    expect(told).toMatch(/e2e_marker has come: .*\n.*e2e_raw is missing: .* it is updated by assets_first\.load/);
    await fleet.query("delete from asset_dag_run_queue");
    expect((await api("/dags/assets_second/assets/queuedEvents")).status).toBe(404);
    expect(await runsOf("assets_second")).toHaveLength(before);
  });
});
