import { createServer, connect, type AddressInfo } from "node:net";
import { createLogger } from "../observability/index.ts";
import { openProxyTo, testDatabase, waitUntil } from "@millrace/testkit";
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { openDatabase } from "./fixtures/seed.ts";
import { CommitUnknownError, Database, defineStatement, isUnavailable } from "./index.ts";

const database = await testDatabase();
const db = openDatabase(database.url);
afterAll(() => db.close());

const setVariable = defineStatement<readonly [key: string, val: string], never>({
  name: "test-set-variable",
  sql: "insert into variable (key, val) values ($1, $2) on conflict (key) do update set val = variable.val || excluded.val",
});
const readValue = defineStatement<readonly [key: string], { val: string }>({
  name: "test-read-value",
  sql: "select val from variable where key = $1",
});
const serializable = defineStatement<readonly [], never>({
  name: "test-serializable",
  sql: "set transaction isolation level serializable",
});
const endConnection = defineStatement<readonly [], never>({
  name: "test-end-connection",
  sql: "select pg_terminate_backend(pg_backend_pid())",
});

const cancelItself = defineStatement<readonly [], never>({
  name: "test-cancel-itself",
  sql: "select pg_cancel_backend(pg_backend_pid()), pg_sleep(10)",
});

const variables = async () =>
  Object.fromEntries(
    (await db.read<{ key: string; val: string }>("select key, val from variable")).map((row) => [row.key, row.val]),
  );

beforeEach(async () => {
  await database.reset();
  await db.run(setVariable, ["a", "-"]);
  await db.run(setVariable, ["b", "-"]);
});

/** Resolves for each of two callers when both have come, the first time only. */
function meeting() {
  let come = 0;
  let open = () => {};
  const both = new Promise<void>((resolve) => (open = resolve));
  return async () => {
    if (++come >= 2) open();
    await both;
  };
}

describe("a transaction", () => {
  test("is kept whole or not at all", async () => {
    const failing = db.transaction(async (tx) => {
      await tx.run(setVariable, ["a", "x"]);
      throw new Error("changed my mind");
    });
    await expect(failing).rejects.toThrow("changed my mind");
    expect(await variables()).toEqual({ a: "-", b: "-" });
  });

  test("that meets a deadlock is repeated, and both end", async () => {
    const meet = meeting();
    let attempts = 0;
    const write = (first: string, second: string, mark: string) =>
      db.transaction(async (tx) => {
        attempts++;
        await tx.run(setVariable, [first, mark]);
        await meet();
        await tx.run(setVariable, [second, mark]);
      });
    await Promise.all([write("a", "b", "x"), write("b", "a", "y")]);
    expect(attempts).toBe(3);
    const { a, b } = await variables();
    expect([a, b].map((value) => (value ?? "").split("").sort().join(""))).toEqual(["-xy", "-xy"]);
  });

  test("that cannot be put in order with another is repeated", async () => {
    const meet = meeting();
    let attempts = 0;
    const copy = (from: string, to: string) =>
      db.transaction(async (tx) => {
        attempts++;
        await tx.run(serializable, []);
        const [found] = await tx.run(readValue, [from]);
        await meet();
        await tx.run(setVariable, [to, `${found?.val}!`]);
      });
    await Promise.all([copy("a", "b"), copy("b", "a")]);
    expect(attempts).toBe(3);
  });

  test("whose connection is lost before its commit is repeated", async () => {
    let attempts = 0;
    await db.transaction(async (tx) => {
      await tx.run(setVariable, ["a", "x"]);
      if (++attempts === 1) await tx.run(endConnection, []);
    });
    expect([attempts, (await variables())["a"]]).toEqual([2, "-x"]);
  });

  test("is repeated no more often than allowed", async () => {
    let attempts = 0;
    const always = db.transaction(async (tx) => {
      attempts++;
      await tx.run(endConnection, []);
    });
    await expect(always).rejects.toMatchObject({ code: "57P01" });
    expect(attempts).toBe(4);
  });

  test("is not repeated for what would fail again", async () => {
    let attempts = 0;
    const broken = db.transaction(async (tx) => {
      attempts++;
      await tx.run(setVariable, ["a", null as unknown as string]);
    });
    await expect(broken).rejects.toMatchObject({ code: "23502" });
    expect(attempts).toBe(1);
  });

  test("whose statement was cancelled, as by a statement timeout, is not begun again at once", async () => {
    let attempts = 0;
    const cancelled = db.transaction(async (tx) => {
      attempts++;
      await tx.run(cancelItself, []);
    });
    await expect(cancelled).rejects.toMatchObject({ code: "57014" });
    expect(attempts).toBe(1);
  });

  test("names whom it acts for, and the next one on its connection does not", async () => {
    const single = openDatabase(database.url, { maxConnections: 1, applicationName: "worker 7" });
    onTestFinished(() => single.close());
    const actor = defineStatement<readonly [], { actor: string }>({
      name: "test-actor",
      sql: "select millrace_actor() as actor",
    });
    expect(await single.transaction((tx) => tx.run(actor, []), { actor: "ada" })).toEqual([{ actor: "ada" }]);
    expect(await single.transaction((tx) => tx.run(actor, []))).toEqual([{ actor: "millrace worker 7" }]);
  });
});

test("a commit whose answer was lost is told as unknown and is not repeated", async () => {
  const real = new URL(database.url);
  let cutAtCommit = false;
  const proxy = createServer((client) => {
    const server = connect(Number(real.port), real.hostname);
    client.on("error", () => undefined).on("close", () => server.destroy());
    server.on("error", () => undefined).on("close", () => client.destroy());
    client.on("data", (data) => {
      server.write(data);
      if (!cutAtCommit || !data.toString("latin1").includes("commit")) return;
      // The commit arrives; its answer does not.
      server.pause();
      server.once("readable", () => client.destroy());
    });
    server.on("data", (data) => client.write(data));
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void proxy.close());
  const url = new URL(database.url);
  url.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const remote: Database = openDatabase(url.href);
  onTestFinished(() => remote.close());
  let attempts = 0;
  const work = remote.transaction(async (tx) => {
    attempts++;
    await tx.run(setVariable, ["a", "x"]);
    cutAtCommit = true;
  });
  await expect(work).rejects.toBeInstanceOf(CommitUnknownError);
  expect(attempts).toBe(1);
});

test("a single statement whose connection is lost is not repeated: nobody knows whether it was done", async () => {
  await expect(db.run(endConnection, [])).rejects.toMatchObject({ code: "57P01" });
  expect(await variables()).toEqual({ a: "-", b: "-" });
});

test("a heartbeat comes through while every other connection waits for something", async () => {
  const busy = openDatabase(database.url, { maxConnections: 2 });
  onTestFinished(() => busy.close());
  let release = () => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  const holding = busy.transaction(async (tx) => {
    await tx.run(setVariable, ["a", "x"]);
    await held;
  });
  const waiting = busy.run(readValue, ["a"]);
  expect(await busy.beat(readValue, ["b"])).toEqual([{ val: "-" }]);
  release();
  await Promise.all([holding, waiting]);
});

describe("a server whose answers no longer come", () => {
  const swallowed = async () => {
    const link = await openProxyTo(database.url);
    const remote = openDatabase(link.url, { statementMs: 1_000 });
    onTestFinished(async () => {
      link.heal();
      await remote.close();
      await link.close();
    });
    await remote.run(readValue, ["a"]);
    await remote.beat(readValue, ["a"]);
    return { link, remote };
  };

  test("is given up, and asked again over another connection once it answers", async () => {
    const { link, remote } = await swallowed();
    link.swallow();
    const asked = await Promise.allSettled([remote.run(readValue, ["a"]), remote.beat(readValue, ["a"])]);
    expect(asked.map((one) => one.status === "rejected" && isUnavailable(one.reason))).toEqual([true, true]);
    link.heal();
    expect(await waitUntil(() => remote.run(readValue, ["a"]), { what: "it answers" })).toEqual([{ val: "-" }]);
    expect(await remote.beat(readValue, ["a"])).toEqual([{ val: "-" }]);
  });

  test("in a transaction: it is repeated whole, and done once", async () => {
    const { link, remote } = await swallowed();
    let attempts = 0;
    await remote.transaction(async (tx) => {
      if (++attempts === 1) link.swallow();
      await tx.run(setVariable, ["a", "x"]).finally(() => link.heal());
    });
    expect([attempts, (await variables())["a"]]).toEqual([2, "-x"]);
  });
});

test("a server without a free connection or too busy is one that may be asked again, and a rule that was broken is not", () => {
  expect(isUnavailable(Object.assign(new Error("sorry, too many clients already"), { code: "53300" }))).toBe(true);
  expect(isUnavailable(new Error('select "name" from "x" - Connection terminated unexpectedly'))).toBe(true);
  expect(isUnavailable(new Error("timeout exceeded when trying to connect"))).toBe(true);
  for (const code of ["55P03", "40P01", "40001", "57014"])
    expect(isUnavailable(Object.assign(new Error("busy"), { code }))).toBe(true);
  expect(isUnavailable(Object.assign(new Error("duplicate key"), { code: "23505" }))).toBe(false);
});

test("a session that hangs in a transaction, waits for a lock or lost its client lets go in less than 15 s", async () => {
  const names = ["idle_in_transaction_session_timeout", "lock_timeout", "tcp_user_timeout"];
  const settings = await db.read<{ ms: number }>(
    "select setting::int as ms from pg_settings where name = any ($1) and unit = 'ms'",
    [names],
  );
  expect(settings).toHaveLength(3);
  for (const { ms } of settings) expect(ms).toBe(10_000);
});

test("a database that cannot be reached is named without its password", async () => {
  const nowhere = openDatabase("postgres://ada:hush@127.0.0.1:1/x");
  onTestFinished(() => nowhere.close());
  const error: unknown = await nowhere.check().catch((caught: unknown) => caught);
  expect(error).toMatchObject({ code: "DATABASE_UNREACHABLE", retryable: true });
  expect(String(error)).toMatch(/ada:\*\*\*@127\.0\.0\.1:1.*ECONNREFUSED/);
});

test("bigint columns come as numbers", async () => {
  expect(await db.read("select 9007199254740991::bigint as n, null::bigint as none")).toEqual([
    { n: Number.MAX_SAFE_INTEGER, none: null },
  ]);
});

test("a connection that breaks just as it is handed from one to the next ends nobody, and the next takes another", async () => {
  const { hostname, port } = new URL(database.url);
  const fatal = Buffer.from("SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0");
  const error = Buffer.concat([Buffer.from("E"), Buffer.alloc(4), fatal]);
  error.writeUInt32BE(4 + fatal.length, 1);
  let breaks = false;
  // In one piece with the end of an answer: then the next has the connection already, and nothing of it has run.
  const way = createServer((client) => {
    const server = connect(Number(port), hostname);
    client.pipe(server);
    server.on("data", (chunk: Buffer) => {
      const isEnd = breaks && chunk.at(-6) === "Z".charCodeAt(0);
      client.write(isEnd ? Buffer.concat([chunk, error]) : chunk);
      if (isEnd) breaks = false;
    });
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on("close", () => other.destroy());
      one.on("error", () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => way.listen(0, "127.0.0.1", resolve));
  const url = new URL(database.url);
  url.host = `127.0.0.1:${(way.address() as AddressInfo).port}`;
  const narrow = new Database({
    url: url.toString(),
    applicationName: "narrow",
    // One of them is for heartbeats.
    maxConnections: 2,
    maxRetries: 3,
    log: createLogger({ level: "silent", name: "test" }),
  });
  try {
    await narrow.read("select 1");
    breaks = true;
    const [first, second] = await Promise.all([
      narrow.read<{ n: number }>("select 1 as n"),
      narrow.transaction(async (tx) => await tx.run(readValue, ["a"])),
    ]);
    expect([first, second]).toEqual([[{ n: 1 }], [{ val: "-" }]]);
  } finally {
    await narrow.close();
    way.close();
  }
});
