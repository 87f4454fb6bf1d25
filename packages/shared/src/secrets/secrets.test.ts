// What is kept secret at rest: nothing readable in the table, nothing that opens in another row, and a wrong key harms
// only what it locks.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testDatabase } from "@millrace/testkit";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { loadConfig } from "../config/index.ts";
import { openDatabase, seedDag, seedRun, seedTask } from "../db/fixtures/seed.ts";
import { deferAttempts, resumeDeferred, type KeptWait } from "../db/index.ts";
import { createLogger, hideIn } from "../observability/index.ts";
import {
  configRedactor,
  KnownSecrets,
  openKept,
  openWait,
  readConnection,
  rotateSecrets,
  sealKept,
  triggerPlace,
  waitPlace,
  Secrets,
  type SecretsOptions,
} from "./index.ts";

const database = await testDatabase();
const db = openDatabase(database.url);
const folder = await mkdtemp(join(tmpdir(), "millrace-secrets-"));
afterAll(async () => {
  await db.close();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => database.reset());

const OLD = "an old key of thirty-two characters or more";
const NEW = "a new key of thirty-two characters or more!";
const CANARY = "c4n4ry-p@ss/word";

const raise = (): never => {
  throw new Error("there is none");
};

const lines: string[] = [];
const open = (key: string, given: Record<string, unknown> = {}, env: SecretsOptions["env"] = {}): Secrets => {
  const config = loadConfig({ env: {}, cwd: folder, overrides: { "core.encryption_key": key, ...given } });
  const log = createLogger({ level: "info", name: "test", destination: { write: (line) => void lines.push(line) } });
  return new Secrets({ db, config, log, env });
};
const uri = `postgres://ada:${encodeURIComponent(CANARY)}@db.example:5433/sales?sslkey=${encodeURIComponent(CANARY)}`;

async function seed(secrets: Secrets): Promise<void> {
  await secrets.stored.setVariable("api_token", CANARY, "for the API");
  await secrets.stored.setConnection(readConnection("dwh", uri));
}

describe("at rest", () => {
  test("a dump of the tables holds no secret, in whatever encoding, and reading gives what was written", async () => {
    const secrets = open(OLD);
    await seed(secrets);
    const dump = JSON.stringify([await db.read("select * from variable"), await db.read("select * from connection")]);
    for (const form of [CANARY, encodeURIComponent(CANARY), Buffer.from(CANARY).toString("base64").slice(0, 12)]) {
      expect(dump).not.toContain(form);
    }
    expect(await secrets.getVariable("api_token")).toBe(CANARY);
    expect(await secrets.getConnection("dwh")).toEqual({
      connectionId: "dwh",
      connType: "postgres",
      host: "db.example",
      port: 5433,
      schema: "sales",
      login: "ada",
      password: CANARY,
      extra: { sslkey: CANARY },
    });
  });

  test("a ciphertext that was copied to another row or column does not open there", async () => {
    const secrets = open(OLD);
    await seed(secrets);
    await secrets.stored.setVariable("other", "x");
    await db.read(`update variable set val = (select val from variable where key = 'api_token') where key = 'other'`);
    await expect(secrets.getVariable("other")).rejects.toThrow(
      "Variable other cannot be read: it was changed, or belongs to another row",
    );
    await db.read(`update connection set extra = password`);
    await expect(secrets.getConnection("dwh")).rejects.toThrow("The extra of connection dwh cannot be read");
    expect(await secrets.getVariable("api_token")).toBe(CANARY);
  });

  test("a ciphertext with one bit changed, or cut off, does not open", async () => {
    const secrets = open(OLD);
    await seed(secrets);
    await db.read(`update variable set val = left(val, 25)`);
    await expect(secrets.getVariable("api_token")).rejects.toMatchObject({ code: "SECRET_UNREADABLE" });
  });

  test("a wrong key is an error that names the variable, and lists still show the rest", async () => {
    await seed(open(OLD));
    const wrong = open(NEW);
    await wrong.stored.setVariable("region", "eu");
    await expect(wrong.getVariable("api_token")).rejects.toMatchObject({
      code: "SECRET_UNREADABLE",
      message: expect.stringMatching(/^Variable api_token cannot be read: it was encrypted with another key/) as string,
    });
    await expect(wrong.getConnection("dwh")).rejects.toThrow("The password of connection dwh cannot be read");
    expect(await wrong.getVariable("region")).toBe("eu");
    const listed = await wrong.stored.listVariables();
    expect(listed.map(({ key, value }) => [key, value])).toEqual([
      ["api_token", undefined],
      ["region", "eu"],
    ]);
    expect(await wrong.stored.listConnections()).toMatchObject([{ connectionId: "dwh", host: "db.example" }]);
  });

  test("without a key values are stored as they are, with one warning, and a key encrypts them later", async () => {
    lines.length = 0;
    await seed(open(""));
    expect(lines.join("")).toContain("core.encryption_key is not set");
    expect(lines).toHaveLength(1);
    expect(await db.read("select val, is_encrypted from variable")).toEqual([{ val: CANARY, is_encrypted: false }]);
    const secrets = open(OLD);
    expect(await secrets.getVariable("api_token")).toBe(CANARY);
    expect(await rotateSecrets(db, secrets.cipher)).toEqual({ rotated: 2, current: 0, unreadable: [] });
    expect(JSON.stringify(await db.read("select * from variable, connection"))).not.toContain(CANARY);
    expect(await secrets.getConnection("dwh")).toMatchObject({ password: CANARY, extra: { sslkey: CANARY } });
  });
});

describe("lines of a process", () => {
  test("show nothing that the process has read, or was configured with, whichever logger writes them", async () => {
    lines.length = 0;
    const overrides = { "core.encryption_key": OLD, "database.url": "postgres://ada:d%40tabase-pw@db/x" };
    const config = loadConfig({ env: {}, cwd: folder, overrides });
    const log = createLogger({ level: "info", name: "test", destination: { write: (line) => void lines.push(line) } });
    const child = log.child({ part: "inner" });
    hideIn(log, configRedactor(config));
    const secrets = new Secrets({ db, config, log, env: {} });
    await seed(secrets);
    await secrets.getVariable("api_token");
    child.error({ cause: `bad ${CANARY}`, inner: { deep: [JSON.stringify({ at: CANARY })] } }, `cannot use ${CANARY}`);
    log.warn(`${OLD} and d@tabase-pw and ${Buffer.from(CANARY).toString("base64")} at postgres://db/x`);
    expect(lines).toHaveLength(2);
    for (const form of [CANARY, OLD, "d@tabase-pw", Buffer.from(CANARY).toString("base64").slice(0, 12)]) {
      expect(lines.join("")).not.toContain(form);
    }
    expect(lines[1]).toContain("postgres://db/x");
  });
});

describe("rotation", () => {
  test("encrypts with the new key what the old one opens, and then the old one is not needed", async () => {
    await seed(open(OLD));
    const both = open(`${NEW}, ${OLD}`);
    expect(await both.getVariable("api_token")).toBe(CANARY);
    expect(await rotateSecrets(db, both.cipher)).toEqual({ rotated: 2, current: 0, unreadable: [] });
    expect(await rotateSecrets(db, both.cipher)).toEqual({ rotated: 0, current: 2, unreadable: [] });
    const fresh = open(NEW);
    expect(await fresh.getVariable("api_token")).toBe(CANARY);
    expect(await fresh.getConnection("dwh")).toMatchObject({ password: CANARY });
    await expect(open(OLD).getVariable("api_token")).rejects.toMatchObject({ code: "SECRET_UNREADABLE" });
  });

  test("leaves and names what no key opens, and does the rest, however many there are", async () => {
    await seed(open("a third key that nobody has written down"));
    const secrets = open(OLD);
    for (let n = 0; n < 205; n++) await secrets.stored.setVariable(`v${n}`, String(n));
    const result = await rotateSecrets(db, open(`${NEW},${OLD}`).cipher);
    expect(result).toMatchObject({ rotated: 205 });
    expect(result.unreadable.map(({ what }) => what)).toEqual([
      "variable api_token",
      "connection.password of dwh",
      "connection.extra of dwh",
    ]);
  });

  test("takes in what waiting tasks handed to their triggers, also what was kept before there was a key", async () => {
    const [old, both] = [open(OLD).cipher, open(`${NEW},${OLD}`).cipher];
    const dag = await seedDag(db, "dag");
    const runId = await seedRun(db, dag, "r");
    const ids: string[] = [];
    for (const index of [0, 1]) {
      const id = await seedTask(db, runId, "a", { state: "running", map_index: index });
      const json = JSON.stringify({ token: CANARY });
      const kept = index === 0 ? sealKept(old, json, triggerPlace(id, null)) : json;
      await db.run(deferAttempts, [[id], [5], ["mine"], [kept], [null], ["resume"], ["null"], [null], [null]]);
      ids.push(id);
    }
    // The state that each keeps counts as well.
    expect(await rotateSecrets(db, both)).toEqual({ rotated: 4, current: 0, unreadable: [] });
    expect(await rotateSecrets(db, both)).toEqual({ rotated: 0, current: 4, unreadable: [] });
    const rows = await db.read<{ kwargs: string; id: string }>(
      "select t.kwargs, ti.id from trigger t join task_instance ti on ti.trigger_id = t.id order by map_index",
    );
    expect(JSON.stringify(rows)).not.toContain(CANARY);
    const fresh = open(NEW).cipher;
    for (const { kwargs, id } of rows)
      expect(JSON.parse(openKept(fresh, kwargs, triggerPlace(id, null)))).toEqual({ token: CANARY });
    expect(() => openKept(fresh, rows[0]?.kwargs ?? "", triggerPlace(ids[1] ?? "", null))).toThrow(
      "belongs to another row",
    );
    expect(() => openKept(old, rows[0]?.kwargs ?? "", triggerPlace(ids[0] ?? "", null))).toThrow("another key");
  });

  test("takes in what tasks kept while they wait and the events that ended their waits, which open in no other row", async () => {
    const [old, both] = [open(OLD).cipher, open(`${NEW},${OLD}`).cipher];
    const run = await seedRun(db, await seedDag(db, "dag"), "r");
    const json = JSON.stringify({ token: CANARY });
    const places: { dagRunId: number; taskId: string; mapIndex: number }[] = [];
    for (const mapIndex of [0, 1]) {
      const place = { dagRunId: run, taskId: "a", mapIndex };
      const seal = (part: "state" | "event") => (mapIndex === 0 ? sealKept(old, json, waitPlace(place, part)) : json);
      const id = await seedTask(db, run, "a", { state: "running", map_index: mapIndex });
      await db.run(deferAttempts, [[id], [5], ["mine"], ["{}"], [null], ["resume"], [seal("state")], [null], [null]]);
      const [row] = await db.read<{ trigger: number }>(
        "select trigger_id as trigger from task_instance where id = $1",
        [id],
      );
      await db.run(resumeDeferred, [[row?.trigger ?? 0], [seal("event")], [false]]);
      places.push(place);
    }
    const kept = async () =>
      (await db.read<{ kept: KeptWait }>("select next_kwargs as kept from task_instance order by map_index")).map(
        (row) => row.kept,
      );
    expect(Object.keys((await kept())[0] ?? {}).sort()).toEqual(["sealed_event", "sealed_state"]);
    expect((await kept())[1]).toEqual({ state: { token: CANARY }, event: { token: CANARY } });
    expect(await rotateSecrets(db, both)).toEqual({ rotated: 2, current: 0, unreadable: [] });
    expect(await rotateSecrets(db, both)).toEqual({ rotated: 0, current: 2, unreadable: [] });
    const waits = await kept();
    expect(JSON.stringify(waits)).not.toContain(CANARY);
    const fresh = open(NEW).cipher;
    for (const [index, wait] of waits.entries()) {
      const place = places[index] ?? raise();
      expect(openWait(fresh, wait, place)).toEqual({ state: { token: CANARY }, event: { token: CANARY } });
      expect(() => openWait(fresh, wait, { ...place, mapIndex: 1 - index })).toThrow("belongs to another row");
      expect(() => openWait(fresh, { sealed_state: wait.sealed_event ?? "" }, place)).toThrow("belongs to another row");
      expect(() => openWait(old, wait, place)).toThrow("another key");
    }
    const lost = await rotateSecrets(db, open("a third key that nobody has written down").cipher);
    expect(lost.unreadable.map(({ what }) => what)).toEqual([
      expect.stringContaining("what task a (attempt"),
      expect.stringContaining("what task a (attempt"),
    ]);
  });

  test("takes in what watchers of assets are given", async () => {
    const [old, both] = [open(OLD).cipher, open(`${NEW},${OLD}`).cipher];
    await seedDag(db, "dag");
    const json = JSON.stringify({ token: CANARY });
    for (const [at, kwargs] of [json, sealKept(old, json, triggerPlace(null, "dag"))].entries()) {
      await db.read(
        `with a as (insert into asset (name, uri) values ($1, $1) returning id),
           t as (insert into trigger (classpath, kwargs) values ('mine', $2) returning id)
         insert into asset_watcher (asset_id, name, trigger_id, dag_id) select a.id, 'w', t.id, 'dag' from a, t`,
        [`a${at}`, kwargs],
      );
    }
    expect(await rotateSecrets(db, both)).toEqual({ rotated: 2, current: 0, unreadable: [] });
    const rows = await db.read<{ kwargs: string }>("select kwargs from trigger");
    for (const { kwargs } of rows) {
      expect(kwargs).not.toContain(CANARY);
      expect(openKept(open(NEW).cipher, kwargs, triggerPlace(null, "dag"))).toBe(json);
    }
  });

  test("without a key says how to make one", async () => {
    await expect(rotateSecrets(db, open("").cipher)).rejects.toThrow("openssl rand -base64 32");
  });
});

describe("places", () => {
  test("the environment wins over a file, a file over the database", async () => {
    const file = join(folder, "variables.json");
    await writeFile(file, JSON.stringify({ a: "file", b: "file", c: { of: "data" } }));
    const secrets = open(OLD, { "secrets.variables_file_path": file }, { MILLRACE_VAR_A: "env" });
    for (const key of ["a", "b", "d"]) await secrets.stored.setVariable(key, "database");
    const found = await Promise.all(["a", "b", "c", "d", "e"].map((key) => secrets.getVariable(key)));
    expect(found).toEqual(["env", "file", '{"of":"data"}', "database", undefined]);
    expect(await secrets.hiddenBy("a")).toBe("environment_variable");
    expect(await secrets.hiddenBy("d")).toBeUndefined();
    lines.length = 0;
    for (const key of ["a", "d"]) await secrets.setVariable(key, "of a task");
    expect(lines.map((line) => (JSON.parse(line) as { variable: string }).variable)).toEqual(["a"]);
    expect(await secrets.getVariable("d")).toBe("of a task");
  });

  test.each([
    ["connections.json", JSON.stringify({ dwh: uri, api: { conn_type: "http", host: "api.example" } })],
    ["connections.yaml", `dwh: "${uri}"\napi:\n  conn_type: http\n  host: api.example\n`],
    ["connections.env", `# ours\ndwh=${uri}\napi=http://api.example\n`],
  ])("connections come from %s, and from its next version", async (name, text) => {
    const file = join(folder, name);
    await writeFile(file, text);
    const secrets = open(OLD, { "secrets.connections_file_path": file });
    expect(await secrets.getConnection("dwh")).toMatchObject({ password: CANARY, extra: { sslkey: CANARY } });
    expect(await secrets.getConnection("api")).toEqual({
      connectionId: "api",
      connType: "http",
      host: "api.example",
    });
    await writeFile(file, name.endsWith("env") ? "" : "{}");
    expect(await secrets.getConnection("dwh")).toBeUndefined();
  });

  test("a file that cannot be read says which, and quotes nothing of it", async () => {
    const file = join(folder, "broken.json");
    await writeFile(file, `{"a": "${CANARY}",}`);
    const secrets = open(OLD, { "secrets.variables_file_path": file });
    const error: unknown = await secrets.getVariable("a").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "SECRETS_FILE_INVALID" });
    expect(String(error)).toContain(file);
    expect(String(error)).not.toContain(CANARY);
  });

  test("a custom backend is asked first, is given its kwargs, and the order can be changed", async () => {
    const module = join(folder, "vault.mjs");
    await writeFile(
      module,
      `export default ({ prefix }) => ({ name: "vault",
        getVariable: async (key) => key === "a" ? prefix + key : undefined,
        getConnection: async (connectionId) => connectionId === "c" ? { connectionId, connType: "http" } : undefined })`,
    );
    const given = { "secrets.backend": module, "secrets.backend_kwargs": '{"prefix": "vault/"}' };
    const secrets = open(OLD, given, { MILLRACE_VAR_A: "env" });
    expect(await secrets.getVariable("a")).toBe("vault/a");
    expect(await secrets.getConnection("c")).toEqual({ connectionId: "c", connType: "http" });
    const other = open(
      OLD,
      { ...given, "secrets.backends_order": "environment_variable,custom" },
      { MILLRACE_VAR_A: "env" },
    );
    expect(await other.getVariable("a")).toBe("env");
    await expect(open(OLD, { "secrets.backend": join(folder, "none.mjs") }).getVariable("a")).rejects.toMatchObject({
      code: "SECRETS_BACKEND_INVALID",
    });
  });
});

test("what a custom backend gives is looked at: null is none, and what is no value is told", async () => {
  const module = join(folder, "odd.mjs");
  await writeFile(
    module,
    `const given = { none: null, number: 5, secret: ["${CANARY}"], airflow: { conn_type: "http" }, good: { connType: "http" } };
     export default () => ({ getVariable: async (key) => given[key], getConnection: async (id) => given[id],
       listSecrets: async () => ({ variables: { db_password: "listed-secret", n: 5 }, connections: [null, { password: "hidden-too" }] }) })`,
  );
  const secrets = open(OLD, { "secrets.backend": module });
  await secrets.stored.setVariable("none", "stored");
  expect(await secrets.getVariable("none")).toBe("stored");
  expect(await secrets.getConnection("none")).toBeUndefined();
  expect(await secrets.getConnection("good")).toEqual({ connectionId: "good", connType: "http" });
  await expect(secrets.getVariable("number")).rejects.toThrow('getVariable("number") gave a value of the type number');
  await expect(secrets.getConnection("airflow")).rejects.toThrow("without a connType: it gives { connType, host");
  const error: unknown = await secrets.getVariable("secret").catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "SECRETS_BACKEND_INVALID" });
  expect(String(error)).not.toContain(CANARY);
  const known = await new KnownSecrets(secrets, createLogger({ level: "silent", name: "test" })).redactor();
  expect(known.redact("listed-secret hidden-too")).toBe("*** ***");
});

test("what the door gave is hidden from then on, and what is only listed as well", async () => {
  const secrets = open(OLD);
  await seed(secrets);
  expect(secrets.redactor.redact(`a ${CANARY} b`)).toContain(CANARY);
  await secrets.getVariable("api_token");
  expect(secrets.redactor.redact(`a ${CANARY} b`)).toBe("a *** b");
});

test("whoever shows what others wrote says once that a secret which no key opens may be in there", async () => {
  await seed(open(OLD));
  lines.length = 0;
  const log = createLogger({ level: "info", name: "test", destination: { write: (line) => void lines.push(line) } });
  for (const key of [OLD, NEW]) {
    const known = new KnownSecrets(open(key), log);
    expect((await known.redactor()).redact(CANARY)).toBe(key === OLD ? "***" : CANARY);
    await known.redactor();
  }
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('"unreadable":2');
  expect(lines[0]).toContain("the first because: Variable api_token cannot be read: it was encrypted with another key");
});
