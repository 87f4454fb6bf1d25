// Variables and connections over HTTP: what goes in does not come out, neither there nor in what tasks have stored.
import { loadConfig } from "@millrace/shared/config";
import { createLogger } from "@millrace/shared/observability";
import { Secrets } from "@millrace/shared/secrets";
import { beforeEach, describe, expect, test } from "vitest";
import { seedDag, seedRun } from "../fixtures/seed.ts";
import { testApi } from "../fixtures/test-api.ts";

const CANARY = "c4n4ry-p@ss/word";
const overrides = { "core.encryption_key": "a key of thirty-two characters or more" };
const { call, get, db, database, lines } = await testApi({ config: overrides });
/** As a worker reads them. */
const secrets = new Secrets({
  db,
  config: loadConfig({ env: {}, overrides }),
  log: createLogger({ level: "silent", name: "test" }),
  env: {},
});
beforeEach(() => database.reset());

const dwh = {
  connection_id: "dwh",
  conn_type: "postgres",
  host: "db.example",
  login: "ada",
  password: CANARY,
  extra: JSON.stringify({ sslmode: "require", client_secret: `${CANARY}-2` }),
};
const addConnection = async () => await call("POST", "/api/v2/connections", { payload: dwh });
const stored = async () => (await db.read<Record<string, unknown>>("select * from connection"))[0];

describe("connections", () => {
  test("are added, listed, changed and deleted, and their secrets are never read back", async () => {
    const added = await addConnection();
    expect(added.statusCode).toBe(201);
    const shown = {
      connection_id: "dwh",
      conn_type: "postgres",
      description: null,
      host: "db.example",
      login: "ada",
      schema: null,
      port: null,
      password: "***",
      extra: '{"sslmode":"require","client_secret":"***"}',
      team_name: null,
    };
    expect(added.json()).toEqual(shown);
    expect((await get("/api/v2/connections")).json()).toEqual({ connections: [shown], total_entries: 1 });
    expect((await get("/api/v2/connections/dwh")).json()).toEqual(shown);
    expect((await addConnection()).statusCode).toBe(409);
    const patched = await call("PATCH", "/api/v2/connections/dwh", { payload: { port: 5433, description: "ours" } });
    expect(patched.json()).toEqual({ ...shown, port: 5433, description: "ours" });
    expect((await call("DELETE", "/api/v2/connections/dwh")).statusCode).toBe(204);
    expect((await get("/api/v2/connections/dwh")).statusCode).toBe(404);
    expect(await db.read("select event, owner from log order by id")).toEqual([
      { event: "post_connection", owner: "admin" },
      { event: "patch_connection", owner: "admin" },
      { event: "delete_connection", owner: "admin" },
    ]);
  });

  test("keep what is sent back as three stars", async () => {
    await addConnection();
    const sentBack = { password: "***", extra: '{"sslmode":"disable","client_secret":"***"}' };
    await call("PATCH", "/api/v2/connections/dwh", { payload: sentBack });
    await call("POST", "/api/v2/variables", { payload: { key: "after", value: "1" } });
    const row = await stored();
    expect(JSON.stringify(row)).not.toContain(CANARY);
    expect((await get("/api/v2/connections/dwh")).json()).toMatchObject({
      extra: '{"sslmode":"disable","client_secret":"***"}',
    });
  });

  test("are, where they are sent back as they were shown, what they were", async () => {
    await addConnection();
    const extra = {
      url: `https://ada:${CANARY}@h/`,
      tokens: [`${CANARY}-3`, 12_345],
      plain: "x",
      deep: { api_key: "k" },
    };
    await call("PATCH", "/api/v2/connections/dwh", { payload: { extra: JSON.stringify(extra) } });
    const shown = (await get("/api/v2/connections/dwh")).json<{ extra: string }>().extra;
    expect(JSON.parse(shown)).toEqual({
      url: "https://ada:***@h/",
      tokens: ["***", 12_345],
      plain: "x",
      deep: { api_key: "***" },
    });
    const host = `https://ada:${encodeURIComponent(CANARY)}@db.example`;
    await call("PATCH", "/api/v2/connections/dwh", { payload: { host } });
    const shownHost = (await get("/api/v2/connections/dwh")).json<{ host: string }>().host;
    expect(shownHost).toBe("https://ada:***@db.example");
    const sentBack = { host: shownHost, password: "***", extra: shown.replace('"x"', '"y"') };
    expect((await call("PATCH", "/api/v2/connections/dwh", { payload: sentBack })).statusCode).toBe(200);
    expect(await secrets.getConnection("dwh")).toMatchObject({
      host,
      password: CANARY,
      extra: { ...extra, plain: "y" },
    });
  });

  test("change only what the mask names", async () => {
    await addConnection();
    const url = "/api/v2/connections/dwh?update_mask=host";
    const patched = await call("PATCH", url, { payload: { host: "other", login: "eve" } });
    expect(patched.json()).toMatchObject({ host: "other", login: "ada" });
  });

  test("are sorted, cut and found by a pattern", async () => {
    for (const connection_id of ["b/1", "a", "b:2"]) {
      await call("POST", "/api/v2/connections", { payload: { connection_id, conn_type: "http" } });
    }
    const ids = async (query: string) =>
      (await get(`/api/v2/connections?${query}`))
        .json<{ connections: { connection_id: string }[] }>()
        .connections.map((one) => one.connection_id);
    expect(await ids("order_by=-connection_id")).toEqual(["b:2", "b/1", "a"]);
    expect(await ids("connection_id_pattern=b&limit=1")).toEqual(["b/1"]);
    expect((await get("/api/v2/connections/b%2F1")).json()).toMatchObject({ connection_id: "b/1" });
    expect((await get("/api/v2/connections?order_by=password")).statusCode).toBe(400);
  });

  test("are refused with a reason that quotes nothing, and not tested unless that is allowed", async () => {
    const wrong = await call("POST", "/api/v2/connections", { payload: { ...dwh, extra: CANARY } });
    expect(wrong.statusCode).toBe(422);
    expect(wrong.body).not.toContain(CANARY);
    expect((await call("POST", "/api/v2/connections", { payload: { ...dwh, admin: 1 } })).statusCode).toBe(422);
    expect((await call("POST", "/api/v2/connections/test", { payload: dwh })).statusCode).toBe(403);
  });
});

describe("variables", () => {
  test("are added, changed and deleted; a value under the name of a secret is not shown", async () => {
    const added = await call("POST", "/api/v2/variables", {
      payload: { key: "region", value: "eu", description: "d" },
    });
    expect(added.statusCode).toBe(201);
    const region = { key: "region", value: "eu", description: "d", is_encrypted: true, team_name: null };
    expect(added.json()).toEqual(region);
    await call("POST", "/api/v2/variables", { payload: { key: "api_token", value: CANARY } });
    await call("POST", "/api/v2/variables", { payload: { key: "limits", value: { rows: 1 } } });
    expect((await get("/api/v2/variables")).json()).toMatchObject({
      variables: [
        { key: "api_token", value: "***" },
        { key: "limits", value: '{"rows":1}' },
        { key: "region", value: "eu" },
      ],
      total_entries: 3,
    });
    expect((await call("POST", "/api/v2/variables", { payload: { key: "region", value: "" } })).statusCode).toBe(409);
    const patched = await call("PATCH", "/api/v2/variables/region", { payload: { value: "us" } });
    expect(patched.json()).toEqual({ ...region, value: "us" });
    expect((await call("PATCH", "/api/v2/variables/none", { payload: { value: "us" } })).statusCode).toBe(404);
    expect((await call("DELETE", "/api/v2/variables/region")).statusCode).toBe(204);
    expect((await call("DELETE", "/api/v2/variables/region")).statusCode).toBe(404);
  });
});

test("of a variable of JSON what stands under names of secrets is hidden, and kept when it is sent back", async () => {
  const value = { host: "h", password: CANARY, list: [{ token: "t0k3n-9" }] };
  const hidden = '{"host":"h","password":"***","list":[{"token":"***"}]}';
  const added = await call("POST", "/api/v2/variables", { payload: { key: "config", value } });
  expect(added.json()).toMatchObject({ value: hidden });
  const spaced = '{ "rows":  [1, 2] }';
  await call("POST", "/api/v2/variables", { payload: { key: "limits", value: spaced } });
  expect((await get("/api/v2/variables/limits")).json()).toMatchObject({ value: spaced });
  const change = async (given: string) => {
    const changed = await call("PATCH", "/api/v2/variables/config", { payload: { value: given, description: "d" } });
    expect(changed.statusCode).toBe(200);
    return JSON.parse((await secrets.getVariable("config")) ?? "") as unknown;
  };
  expect(await change(hidden)).toEqual(value);
  expect(await change(hidden.replace('"h"', '"other"'))).toEqual({ ...value, host: "other" });
  expect(await change('{"password":"new"}')).toEqual({ password: "new" });
});

test("no secret of any connection or variable is in an XCom's view, the audit log or the API's own log", async () => {
  await addConnection();
  await call("POST", "/api/v2/variables", { payload: { key: "api_token", value: `${CANARY}-3` } });
  await seedDag(db, "etl");
  await seedRun(db, "etl", "r");
  const value = {
    plain: CANARY,
    basic: Buffer.from(`ada:${CANARY}`).toString("base64"),
    inner: [JSON.stringify({ a: `${CANARY}-2` }), encodeURIComponent(`${CANARY}-3`)],
    password: "not known to anybody",
  };
  await db.read("update xcom set value = $1", [JSON.stringify(value)]);
  const base = "/api/v2/dags/etl/dagRuns/r/taskInstances/extract/xcomEntries/return_value";
  for (const url of [base, `${base}?stringify=true`]) {
    const { body } = await get(url);
    for (const form of [CANARY, encodeURIComponent(CANARY), Buffer.from(CANARY).toString("base64").slice(2, 16)]) {
      expect(body).not.toContain(form);
    }
    expect(body).not.toContain("not known");
    expect(body).toContain("***");
  }
  expect(JSON.stringify(await db.read("select * from log"))).not.toContain(CANARY);
  expect(lines.join("")).not.toContain(CANARY);
});

test("no secret is shown in what users wrote: conf and note of runs, events of assets, errors of files, backfills", async () => {
  await addConnection();
  await seedDag(db, "etl");
  const text = `at ${CANARY} and ${Buffer.from(`ada:${CANARY}`).toString("base64")} and ${encodeURIComponent(CANARY)}`;
  const conf = { plain: text, deep: [JSON.stringify({ a: JSON.stringify(CANARY) })], api_key: "not known to anybody" };
  const triggered = await call("POST", "/api/v2/dags/etl/dagRuns", {
    payload: { dag_run_id: "r", conf, note: text, logical_date: null },
  });
  expect(triggered.statusCode).toBe(200);
  await db.read("insert into import_error (filename, bundle_name, stacktrace) values ('a.ts', 'dags-folder', $1)", [
    text,
  ]);
  await db.read("insert into dag_warning (dag_id, warning_type, message) values ('etl', 'timetable error', $1)", [
    text,
  ]);
  await db.read("insert into asset (name, uri) values ('a', 'a')");
  const event = await call("POST", "/api/v2/assets/events", { payload: { asset_id: 1, extra: conf } });
  const answers = [triggered, event];
  for (const url of [
    "/api/v2/dags/etl/dagRuns/r",
    "/api/v2/dags/~/dagRuns",
    "/api/v2/importErrors",
    "/api/v2/dagWarnings",
    "/api/v2/assets/events",
    "/api/v2/dags/etl/dagRuns/r/taskInstances",
    "/ui/dags/etl/grid",
    "/ui/dags",
  ]) {
    const answer = await get(url);
    expect(answer.statusCode, url).toBe(200);
    answers.push(answer);
  }
  for (const { body } of answers) {
    for (const form of [CANARY, encodeURIComponent(CANARY), Buffer.from(CANARY).toString("base64").slice(2, 16)]) {
      expect(body).not.toContain(form);
    }
    expect(body).not.toContain("not known");
  }
  expect(triggered.json()).toMatchObject({ conf: { api_key: "***" }, note: expect.stringMatching(/^at \*\*\* and /) });
  // What tasks are given is theirs as it is, and the audit log has none of it.
  expect(await db.read("select conf->>'api_key' as key from dag_run")).toEqual([{ key: "not known to anybody" }]);
  expect(JSON.stringify(await db.read("select * from log"))).not.toContain(CANARY);
  expect(lines.join("")).not.toContain(CANARY);
});

test("a DAG's details tell a form its params: default, description and schema", async () => {
  await seedDag(db, "etl");
  const specs = { day: { schema: { type: "string" }, description: "which", required: true } };
  await db.read(
    `update serialized_dag set data = data || jsonb_build_object('params', $1::jsonb, 'paramSpecs', $2::jsonb)`,
    [JSON.stringify({ rows: 1 }), JSON.stringify(specs)],
  );
  expect((await get("/api/v2/dags/etl/details")).json()).toMatchObject({
    dag_id: "etl",
    doc_md: null,
    params: {
      day: { value: null, description: "which", schema: { type: "string" } },
      rows: { value: 1, description: null, schema: {} },
    },
  });
});
