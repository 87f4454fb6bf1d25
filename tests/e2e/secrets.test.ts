// Secrets and data through real processes: what handlers print and throw never shows a secret, values come back as the
// kind they were, and params are checked when a run is asked for and again before its tasks start.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { testDatabase, testRedisUrl, waitUntil, type MillraceProcess } from "@millrace/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openFleet, type Fleet } from "./fleet.ts";

const database = await testDatabase();
const redisUrl = await testRedisUrl();
let fleet: Fleet;
const processes: MillraceProcess[] = [];
let api = "";

const KEY = "a key of thirty-two characters or more";
const CANARY = 'c4n4ry-"p@ss/w0rd';
const TOKEN = "t0k3n-of-the-api";
const MASKED = "masked-by-hand-1";

const FILE = `
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { deferrable, Dag, getClient, getContext, mask, waitFor } from "@millrace/sdk";
import { defineTrigger } from "@millrace/sdk/triggers";

const secrets = new Dag("secrets");
secrets.task("prints", async () => {
  const client = getClient();
  const { password = "", extra = {} } = await client.getConnectionOrThrow("dwh");
  const token = await client.getVariableOrThrow("api_token");
  mask(["${MASKED}"]);
  console.log("plain", password, token, extra.client_secret, "${MASKED}");
  console.log("json", JSON.stringify({ password, body: JSON.stringify({ token }) }));
  console.log("url", encodeURIComponent(password), "basic", Buffer.from("ada:" + password).toString("base64"));
  // In two chunks of one line, and past the stream objects of the process.
  process.stdout.write("chunk " + password.slice(0, 5));
  process.stdout.write(password.slice(5) + "\\n");
  const half = "setTimeout(() => process.stdout.write(process.argv[1].slice(9) + '\\\\n'), 100)";
  const program = "process.stdout.write('native ' + process.argv[1].slice(0, 9)); " + half;
  await new Promise((resolve) => spawn(process.execPath, ["-e", program, token], { stdio: "inherit" }).on("exit", resolve));
  await client.setXCom({ key: "leak", value: { at: password, list: [token] } });
  throw new Error("cannot log in with " + password + " and " + "${MASKED}");
})();

// Waits with a secret, and fails with it in the trigger; answers with it in a callback; hides one that cannot be read.
const waits = new Dag("secret_waits", {
  onFailure: () => { throw new Error("the DAG's callback has " + process.env["NOTHING"] + "${TOKEN}"); },
});
const refuses = defineTrigger({
  name: "e2e_refuses",
  run: async ({ token }: { token: string }, { client }) => {
    await client.getVariable("api_token");
    console.log("the trigger has", token);
    throw new Error("refused " + token);
  },
});
waits.task("waits", deferrable({
  start: async () => refuses({ token: await getClient().getVariableOrThrow("api_token") }),
  resume: async () => "never",
}))();

// Holds secrets in all that is kept of a wait, until the test has looked.
const holds = new Dag("secret_holds");
const fileThere = async (file: string) => {
  while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 50));
};
const parked = defineTrigger({
  name: "e2e_parked",
  run: async ({ token, file }: { token: string; file: string }) => {
    await fileThere(file);
    return { token };
  },
});
holds.task("holds", deferrable({
  start: async () => {
    const token = await getClient().getVariableOrThrow("api_token");
    return waitFor(parked({ token, file: getContext().conf.file as string }), { state: { kept: token } });
  },
  resume: async (event, _args: {}, state) => {
    console.log("resumed");
    await fileThere(getContext().conf.file + ".end");
    return event.token === state.kept;
  },
}))();
const loops = new Dag("secret_loops");
loops.task("loops", () => {
  const value: Record<string, unknown> = {};
  value["self"] = { inner: [value] };
  return value as never;
})();

const data = new Dag("data", {
  params: { day: { schema: { type: "string", format: "date" } }, rows: { default: 1, schema: { type: "integer" } } },
});
const value = { at: new Date(5), big: 2n ** 70n, map: new Map([["k", new Set([1])]]), bytes: Buffer.from([0, 255]) };
const made = data.task("makes", () => value)();
data.task("takes", ({ whole, at }: { whole: typeof value; at: Date }) =>
  [at.getTime(), whole.big === 2n ** 70n, whole.map.get("k")?.has(1), [...whole.bytes]].join(), { returnsDagResult: true })({ whole: made, at: made.get("at") });
data.task("reads", async () => String((await getClient().getXCom<typeof value>({ taskId: "makes" }))?.big))().after(made);
`;

beforeAll(async () => {
  fleet = await openFleet(database, redisUrl, database.url, { MILLRACE__CORE__ENCRYPTION_KEY: KEY });
  await writeFile(join(fleet.folder, "dags", "secrets.ts"), FILE);
  const connection = { conn_type: "http", password: CANARY, extra: { client_secret: `${CANARY}-2` } };
  await fleet.command(["connections", "add", "dwh", "--conn-json", JSON.stringify(connection)]);
  await fleet.command(["variables", "set", "api_token", TOKEN]);
  await writeFile(
    join(fleet.folder, "dags", "leaks.ts"),
    `throw new Error(${JSON.stringify(`at import: ${CANARY} ${TOKEN}`)});`,
  );
  processes.push(await fleet.start(["dag-processor"]));
  await waitUntil(async () => (await fleet.query("select from dag where dag_id = 'data'")).length === 1, {
    what: "the DAG is read",
    timeoutMs: 90_000,
  });

  await fleet.query(
    "update dag set is_paused = dag_id not in ('secrets', 'data', 'secret_waits', 'secret_holds', 'secret_loops')",
  );
  const names = ["scheduler", "worker", "triggerer", "api"];
  for (const name of names) processes.push(await fleet.start([name]));
  const ready = await processes.at(-1)?.waitForLine(/is ready/);
  api = /http:\/\/[^\s"]+/.exec(ready ?? "")?.[0].replace(/\/$/, "") ?? "";
}, 240_000);

afterAll(() => fleet.close());

it("a handler that prints and throws its secrets shows none of them", { timeout: 240_000 }, async () => {
  await fleet.command(["dags", "trigger", "secrets", "-r", "canary"]);
  expect((await fleet.ended("secrets", "canary")).state).toBe("failed");
  const path = join(fleet.folder, "logs/dag_id=secrets/run_id=canary/task_id=prints/attempt=1.log");
  const log = await readFile(path, "utf8");
  const events = log.split("\n").filter((line) => line !== "");
  const said = events.map((line) => (JSON.parse(line) as { event: string }).event).join("\n");
  const forms = [CANARY, TOKEN, MASKED].flatMap((secret) => [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    Buffer.from(secret).toString("base64").slice(0, 12),
  ]);
  for (const form of forms) {
    expect(log).not.toContain(form);
    expect(said).not.toContain(form);
  }
  expect(log).not.toContain(Buffer.from(`ada:${CANARY}`).toString("base64").slice(6, 20));
  expect(said).toContain("plain *** *** *** ***");
  expect(said).toContain("chunk ***");
  expect(said).toContain("native ***");
  expect(said).toContain("cannot log in with *** and ***");
  const rows = [
    await fleet.query("select * from task_instance_transition"),
    await fleet.query("select * from task_instance where dag_id = 'secrets'"),
    await fleet.query("select * from task_instance_history"),
    await fleet.query("select * from log"),
    await fleet.query("select * from connection, variable"),
  ];
  for (const form of forms) expect(JSON.stringify(rows)).not.toContain(form);
  // What a task stores for others is theirs as it is.
  expect(await fleet.query("select value from xcom where key = 'leak'")).toEqual([
    { value: { at: CANARY, list: [TOKEN] } },
  ]);
});

const FORMS = [CANARY, TOKEN].flatMap((secret) => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  encodeURIComponent(secret),
  Buffer.from(secret).toString("base64").slice(0, 12),
]);

it(
  "nothing that is stored, printed or answered shows a secret, but for what tasks are given",
  { timeout: 240_000 },
  async () => {
    const conf = JSON.stringify({ at: CANARY, deep: [JSON.stringify({ t: TOKEN })] });
    await fleet.command(["dags", "trigger", "secret_waits", "-r", "canary", "-c", conf]);
    expect((await fleet.ended("secret_waits", "canary")).state).toBe("failed");
    await waitUntil(
      async () => (await fleet.query("select from callback where state in ('success', 'failed')")).length > 0,
      { what: "the DAG's callback was called", timeoutMs: 30_000 },
    );
    const path = join(fleet.folder, "logs/dag_id=secret_waits/run_id=canary/task_id=waits/attempt=1.log");
    expect(await readFile(path, "utf8")).toContain("refused ***");

    // Every table, every column. What tasks are given is theirs as it is: XComs and the conf of a run.
    const tables = await fleet.query<{ name: string }>(
      "select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'",
    );
    for (const { name } of tables) {
      if (["xcom", "dag_artifact", "dag_code"].includes(name)) continue;
      const rows = await fleet.query<{ row: Record<string, unknown> }>(`select to_jsonb(t) as row from "${name}" t`);
      const text = JSON.stringify(rows.map(({ row }) => ({ ...row, conf: undefined })));
      for (const form of FORMS) expect(text, name).not.toContain(form);
    }
    for (const { lines } of processes) for (const form of FORMS) expect(lines.join("\n")).not.toContain(form);

    const headers = { "content-type": "application/json" };
    const credentials = JSON.stringify({ username: "admin", password: "let me in" });
    const login = await fetch(`${api}/auth/token`, { method: "POST", headers, body: credentials });
    const { access_token: token } = (await login.json()) as { access_token: string };
    const run = "/api/v2/dags/secret_waits/dagRuns/canary";
    for (const url of [
      run,
      "/api/v2/dags/~/dagRuns",
      "/api/v2/importErrors",
      `${run}/explain`,
      `${run}/callbacks`,
      `${run}/taskInstances`,
      `${run}/taskInstances/waits/logs/1`,
      `${run}/taskInstances/waits/dependencies`,
      "/api/v2/connections",
      "/api/v2/variables",
      "/api/v2/dags/secrets/dagRuns/canary/taskInstances/prints/xcomEntries/leak",
    ]) {
      const answer = await fetch(`${api}${url}`, { headers: { authorization: `Bearer ${token}` } });
      expect(answer.status, url).toBe(200);
      const text = await answer.text();
      for (const form of FORMS) expect(text, url).not.toContain(form);
    }
  },
);

it("what tasks keep while they wait is not to be read in the tables at any time", { timeout: 240_000 }, async () => {
  const file = join(fleet.folder, "go-on");
  await fleet.command(["dags", "trigger", "secret_holds", "-r", "r", "-c", JSON.stringify({ file })]);
  const dumped = async () =>
    JSON.stringify(
      await fleet.query(
        "select to_jsonb(ti) as ti, to_jsonb(t) as t from task_instance ti left join trigger t on t.id = ti.trigger_id where dag_id = 'secret_holds'",
      ),
    );
  const isIn = (state: string) => async () =>
    (await fleet.query("select from task_instance where dag_id = 'secret_holds' and state = $1", [state])).length === 1;
  await waitUntil(isIn("deferred"), { what: "it waits", timeoutMs: 30_000 });
  const waiting = await dumped();
  await writeFile(file, "");
  const path = join(fleet.folder, "logs/dag_id=secret_holds/run_id=r/task_id=holds/attempt=1.log");
  await waitUntil(async () => (await readFile(path, "utf8").catch(() => "")).includes("resumed"), {
    what: "it resumed",
    timeoutMs: 30_000,
  });
  const resumed = await dumped();
  expect(resumed).toMatch(/sealed_event.*sealed_state/);
  for (const form of FORMS) for (const dump of [waiting, resumed]) expect(dump).not.toContain(form);
  await writeFile(`${file}.end`, "");
  expect((await fleet.ended("secret_holds", "r")).state).toBe("success");
  expect(await fleet.query("select value from xcom where dag_id = 'secret_holds'")).toEqual([{ value: true }]);
});

it(
  "a value that holds itself fails its task with the place, and the scheduler lives",
  { timeout: 240_000 },
  async () => {
    await fleet.command(["dags", "trigger", "secret_loops", "-r", "r"]);
    expect((await fleet.ended("secret_loops", "r")).state).toBe("failed");
    const path = join(fleet.folder, "logs/dag_id=secret_loops/run_id=r/task_id=loops/attempt=1.log");
    expect(await readFile(path, "utf8")).toMatch(/self[^]*contains itself/);
  },
);

it("dates, bigints, maps, sets and bytes reach the next task as what they were", { timeout: 240_000 }, async () => {
  await fleet.command(["dags", "trigger", "data", "-r", "kinds", "-c", '{"day": "2026-01-31"}']);
  expect((await fleet.ended("data", "kinds")).state).toBe("success");
  const values = await fleet.query(
    "select task_id, value, dag_result from xcom where run_id = 'kinds' order by task_id",
  );
  expect(values).toMatchObject([
    { task_id: "makes", dag_result: false, value: { at: { $millrace: "date", value: "1970-01-01T00:00:00.005Z" } } },
    { task_id: "reads", value: String(2n ** 70n) },
    { task_id: "takes", dag_result: true, value: "5,true,true,0,255" },
  ]);
});

it(
  "params that do not fit are refused with every violation, and once more before a task",
  { timeout: 240_000 },
  async () => {
    const { code, lines } = await fleet.attempt(["dags", "trigger", "data", "-c", '{"day": "x", "rows": 0.5}'], {});
    expect(code).toBe(1);
    expect(lines.join("\n")).toMatch(/day: must match format "date"[^]*rows: must be integer/);
    const none = await fleet.attempt(["dags", "trigger", "data"], {});
    expect(none.lines.join("\n")).toContain("day: is required");
    await fleet.query("update dag set is_paused = true where dag_id = 'data'");
    await fleet.command(["dags", "trigger", "data", "-r", "changed", "-c", '{"day": "2026-01-31"}']);
    await fleet.query(`update dag_run set conf = '{"day": 1}' where run_id = 'changed'`);
    await fleet.command(["dags", "unpause", "data"]);
    const { tasks } = await fleet.ended("data", "changed");
    expect(tasks).toMatchObject({ makes: "failed" });
    const path = join(fleet.folder, "logs/dag_id=data/run_id=changed/task_id=makes/attempt=1.log");
    expect(await readFile(path, "utf8")).toContain("the params of the run do not fit: day: must be string");
  },
);
