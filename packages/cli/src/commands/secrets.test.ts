// Variables and connections from the command line: what is printed, what is hidden, what goes through files and keys.
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testDatabase } from "@millrace/testkit";
import { afterAll, beforeEach, expect, test } from "vitest";
import { runCaptured } from "../fixtures/capture-io.ts";

const database = await testDatabase();
const folder = await mkdtemp(join(tmpdir(), "millrace-cli-secrets-"));
afterAll(() => rm(folder, { recursive: true, force: true }));
beforeEach(() => database.reset());

const OLD = "an old key of thirty-two characters or more";
const NEW = "a new key of thirty-two characters or more!";
const URI = "postgres://ada:hunter22@db.example:5432/sales";

let key = OLD;
const millrace = async (...argv: string[]) =>
  await runCaptured(argv, { MILLRACE__DATABASE__URL: database.url, MILLRACE__CORE__ENCRYPTION_KEY: key });
const json = async (...argv: string[]) =>
  JSON.parse((await millrace(...argv, "-o", "json")).out) as Record<string, unknown>[];
beforeEach(() => {
  key = OLD;
});

test("a connection is added in each form, shown without its secrets unless asked, and deleted", async () => {
  expect(await millrace("connections", "add", "dwh", "--conn-uri", URI)).toMatchObject({
    code: 0,
    out: "dwh is added\n",
  });
  await millrace("connections", "add", "api", "--conn-json", '{"conn_type": "http", "host": "api.example"}');
  await millrace("connections", "add", "box", "--conn-type", "ftp", "--conn-host", "h", "--conn-port", "21");
  expect(await json("connections", "list")).toMatchObject([
    { conn_id: "api", conn_type: "http", password: null },
    { conn_id: "box", conn_type: "ftp", host: "h", port: 21 },
    { conn_id: "dwh", conn_type: "postgres", host: "db.example", login: "ada", password: "***", is_encrypted: true },
  ]);
  expect((await millrace("connections", "get", "dwh")).out).not.toContain("hunter22");
  expect(await json("connections", "get", "dwh", "--show-values")).toMatchObject([{ password: "hunter22" }]);
  expect(await millrace("connections", "add", "dwh", "--conn-uri", URI)).toMatchObject({ code: 1 });
  expect((await millrace("connections", "delete", "dwh")).code).toBe(0);
  const gone = await millrace("connections", "get", "dwh");
  expect(gone).toMatchObject({ code: 1 });
  expect(gone.notes).toContain("There is no connection dwh");
});

test.each([["json"], ["yaml"], ["env"]])("connections go through a file of %s unchanged", async (format) => {
  await millrace("connections", "add", "dwh", "--conn-uri", `${URI}?sslmode=require`);
  const before = await json("connections", "list", "--show-values");
  const file = join(folder, `connections.${format}`);
  await writeFile(file, "of yesterday, for all to read", { mode: 0o644 });
  expect(await millrace("connections", "export", file)).toMatchObject({ code: 0 });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  await millrace("connections", "delete", "dwh");
  expect(await millrace("connections", "import", file)).toMatchObject({ out: "1 of 1 connections were imported\n" });
  expect(await json("connections", "list", "--show-values")).toEqual(before);
  const again = await millrace("connections", "import", file);
  expect(again.out).toBe("0 of 1 connections were imported\n");
  expect(again.notes).toContain("dwh exists and was left as it is");
});

test("variables go through a file, and what exists is overwritten, skipped or refused", async () => {
  await millrace("variables", "set", "a", "1");
  await millrace("variables", "set", "b", '{"x": 2}', "--json");
  const file = join(folder, "variables.json");
  await millrace("variables", "export", file);
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ a: "1", b: '{"x": 2}' });
  await writeFile(file, '{"a": "changed", "c": {"y": [3]}}');
  expect(await millrace("variables", "import", file, "-a", "fail")).toMatchObject({ code: 1 });
  expect((await millrace("variables", "import", file, "-a", "skip")).out).toBe("1 of 2 variables were imported\n");
  expect((await millrace("variables", "get", "a")).out).toBe("1\n");
  await millrace("variables", "import", file);
  expect((await millrace("variables", "get", "a")).out).toBe("changed\n");
  expect((await millrace("variables", "get", "c")).out).toBe('{"y":[3]}\n');
  expect((await millrace("variables", "set", "d", "{", "--json")).code).toBe(1);
});

test("a variable keeps its description through a file, in the form that Airflow's exports have, too", async () => {
  await millrace("variables", "set", "a", "1", "--description", "how many");
  const file = join(folder, "described.json");
  await millrace("variables", "export", file);
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ a: { value: "1", description: "how many" } });
  const airflows = {
    limits: { value: { rows: 5 }, description: "per day" },
    odd: { value: { value: 1 }, description: null },
  };
  const own = { both: { value: 1, unit: "s" }, list: ["value"] };
  await writeFile(
    file,
    JSON.stringify({ ...(JSON.parse(await readFile(file, "utf8")) as object), ...airflows, ...own }),
  );
  await millrace("variables", "delete", "a");
  expect((await millrace("variables", "import", file)).out).toBe("5 of 5 variables were imported\n");
  const listed = await json("variables", "list", "--show-values");
  expect(listed.map(({ key, value, description }) => [key, value, description])).toEqual([
    ["a", "1", "how many"],
    ["both", '{"value":1,"unit":"s"}', null],
    ["limits", '{"rows":5}', "per day"],
    ["list", '["value"]', null],
    ["odd", '{"value":1}', null],
  ]);
});

test("a variable is printed as tasks see it: from the first place of the order that has it", async () => {
  await millrace("variables", "set", "region", "database");
  const get = async (order: string) =>
    await runCaptured(["variables", "get", "region"], {
      MILLRACE__DATABASE__URL: database.url,
      MILLRACE__CORE__ENCRYPTION_KEY: key,
      MILLRACE__SECRETS__BACKENDS_ORDER: order,
      MILLRACE_VAR_REGION: "environment",
    });
  expect((await get("environment_variable,metastore")).out).toBe("environment\n");
  expect((await get("metastore,environment_variable")).out).toBe("database\n");
  const alone = await runCaptured(["variables", "get", "region"], { MILLRACE_VAR_REGION: "environment" });
  expect(alone).toMatchObject({ code: 0, out: "environment\n" });
});

test("a key is rotated, and a wrong one says what it cannot read and what to do", async () => {
  await millrace("variables", "set", "region", "eu");
  await millrace("connections", "add", "dwh", "--conn-uri", URI);
  key = NEW;
  const wrong = await millrace("variables", "get", "region");
  expect(wrong).toMatchObject({ code: 1, out: "" });
  expect(wrong.notes).toMatch(/Variable region cannot be read: .*core\.encryption_key/);
  expect(await millrace("secrets", "rotate-key")).toMatchObject({ code: 1, out: "0 encrypted anew, 0 were already\n" });
  key = `${NEW},${OLD}`;
  expect(await millrace("secrets", "rotate-key")).toMatchObject({ code: 0, out: "2 encrypted anew, 0 were already\n" });
  key = NEW;
  expect((await millrace("variables", "get", "region")).out).toBe("eu\n");
  key = "short";
  expect(await millrace("variables", "get", "region")).toMatchObject({ code: 2 });
});

test("a connection is tested only where that is allowed", async () => {
  await millrace("connections", "add", "dwh", "--conn-uri", database.url);
  expect((await millrace("connections", "test", "dwh")).notes).toContain("MILLRACE__CORE__TEST_CONNECTION=true");
  const allowed = async (id: string) =>
    await runCaptured(["connections", "test", id], {
      MILLRACE__DATABASE__URL: database.url,
      MILLRACE__CORE__ENCRYPTION_KEY: key,
      MILLRACE__CORE__TEST_CONNECTION: "true",
    });
  expect(await allowed("dwh")).toMatchObject({ code: 0, out: "Postgres answers\n" });
  await millrace("connections", "add", "nobody", "--conn-uri", "ftp://ada:hunter22@127.0.0.1:1");
  const nobody = await allowed("nobody");
  expect(nobody).toMatchObject({ code: 1 });
  expect(nobody.notes).not.toContain("hunter22");
});

test("variables and connections are listed without their values, with them, or with secrets hidden in them", async () => {
  await millrace("variables", "set", "api_token", "hunter22-token");
  await millrace("variables", "set", "limits", '{"max": 3, "password": "hunter22-inner"}');
  await millrace("connections", "add", "dwh", "--conn-uri", `${URI}?secret_key=hunter22-extra&mode=fast`);
  expect((await millrace("variables", "list")).out).not.toContain("hunter22");
  expect(await json("variables", "list", "--show-values")).toMatchObject([
    { key: "api_token", value: "hunter22-token" },
    { key: "limits", value: '{"max": 3, "password": "hunter22-inner"}' },
  ]);
  expect(await json("variables", "list", "--show-values", "--hide-sensitive")).toMatchObject([
    { key: "api_token", value: "***" },
    { key: "limits", value: '{"max": 3, "password": "***"}' },
  ]);
  const [hidden] = await json("connections", "list", "--show-values", "--hide-sensitive");
  expect(hidden).toMatchObject({ login: "ada", password: "***", extra: { secret_key: "***", mode: "fast" } });
  // Asked for by name it is printed as a task sees it, as Airflow does.
  expect((await millrace("variables", "get", "api_token")).out).toBe("hunter22-token\n");
});
