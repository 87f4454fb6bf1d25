import type { ConnectionValue, SqlRequest } from "@millrace/sdk/runtime";
import { testDatabase } from "@millrace/testkit";
import { expect, onTestFinished, test, vi } from "vitest";
import { ForeignDatabases } from "./foreign-databases.ts";
import { runSql } from "./run-sql.ts";

const database = await testDatabase();
const url = new URL(database.url);
const connection: ConnectionValue = {
  connectionId: "shop",
  connType: "postgres",
  host: url.hostname,
  port: Number(url.port),
  login: decodeURIComponent(url.username),
  password: decodeURIComponent(url.password),
  schema: url.pathname.slice(1),
};
const run = (request: Omit<SqlRequest, "connectionId">, maxBytes = 1_000_000, signal?: AbortSignal) =>
  runSql(connection, { connectionId: "shop", ...request }, { maxBytes, signal });
const one = (sql: string, ...params: SqlRequest["statements"][0]["params"]) => run({ statements: [{ sql, params }] });

test("values travel as parameters, and come back as JSON", async () => {
  const evil = "x'; drop table dag; --";
  expect(
    await one("select $1::text as t, $2::int as n, $3::jsonb as j, $4::int[] as a", evil, 5, { a: [1] }, [1, 2]),
  ).toEqual([{ columns: ["t", "n", "j", "a"], rows: [[evil, 5, { a: [1] }, [1, 2]]], rowCount: 1 }]);
  const types = await one(
    "select 9007199254740993::bigint, timestamptz '2026-01-01Z', null, '\\x00ff'::bytea, 'NaN'::float",
  );
  expect(types[0]?.rows).toEqual([["9007199254740993", "2026-01-01T00:00:00.000Z", null, "AP8=", "NaN"]]);
});

test("dates and times without a zone stay as they are, whatever zone the worker is in", async () => {
  const asked =
    "select date '2026-01-31', timestamp '2026-01-31 00:30', array[date '2026-01-31', null], timestamptz '2026-01-31 00:30Z'";
  const databases = new ForeignDatabases({ maxConnections: 1, statementTimeoutMs: 5_000 });
  onTestFinished(() => databases.close());
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const zone of ["Asia/Tokyo", "America/New_York"]) {
    vi.stubEnv("TZ", zone);
    const expected = ["2026-01-31", "2026-01-31T00:30:00", ["2026-01-31", null], "2026-01-31T00:30:00.000Z"];
    expect((await one(asked))[0]?.rows).toEqual([expected]);
    const answer = await databases.ask(
      connection,
      `select to_json(r) is not null as same, r.* from (${asked}) r(a, b, c, d)`,
      [],
    );
    expect(JSON.parse(JSON.stringify(answer))).toEqual({
      rows: [{ same: true, a: expected[0], b: expected[1], c: expected[2], d: expected[3] }],
    });
  }
});

test("a connection that asks for TLS is given it, by tasks and sensors alike", async () => {
  const asks = { ...connection, extra: { sslmode: "require" } };
  const databases = new ForeignDatabases({ maxConnections: 1, statementTimeoutMs: 5_000 });
  onTestFinished(() => databases.close());
  // The server of the tests has none, which it says.
  const refusal = "The server does not support SSL connections";
  await expect(databases.ask(asks, "select 1", [])).rejects.toThrow(refusal);
  await expect(runSql(asks, { connectionId: "shop", statements: [] }, { maxBytes: 1 })).rejects.toThrow(refusal);
});

test("several statements are one transaction, and a text is one statement", async () => {
  await one("create table t (n int)");
  const failing = ["insert into t values (1)", "insert into nowhere values (1)"].map((sql) => ({ sql, params: [] }));
  await expect(run({ statements: failing })).rejects.toThrow(
    /^statement 2 of 2 failed: relation "nowhere" does not exist/,
  );
  expect((await one("select count(*)::int from t"))[0]?.rows).toEqual([[0]]);
  await expect(run({ statements: failing, autocommit: true })).rejects.toThrow("nowhere");
  expect((await one("select count(*)::int from t"))[0]?.rows).toEqual([[1]]);
  await expect(one("select 1; drop table t")).rejects.toThrow("multiple commands");
  expect(await one("update t set n = 2")).toMatchObject([{ rows: [], rowCount: 1 }]);
});

test("an answer that is too large is given up while it comes", async () => {
  const statements = [{ sql: "select repeat('x', 1000) from generate_series(1, 10000000)", params: [] }];
  await expect(run({ statements, maxRows: 10 })).rejects.toThrow("gives more than 10 rows");
  await expect(run({ statements }, 10_000)).rejects.toThrow("more bytes than a task's value may have");
});

test("a statement ends at its timeout, and when its task has to stop", async () => {
  const statements = [{ sql: "select pg_sleep(60)", params: [] }];
  await expect(run({ statements, timeoutSeconds: 0.1 })).rejects.toThrow("statement timeout");
  const controller = new AbortController();
  const running = run({ statements }, 1_000, controller.signal);
  const sleeping =
    "select count(*)::int from pg_stat_activity where query = 'select pg_sleep(60)' and state = 'active'";
  while ((await one(sleeping))[0]?.rows[0]?.[0] === 0) await Promise.resolve();
  controller.abort();
  await expect(running).rejects.toThrow("canceling statement due to user request");
});

test("a database that cannot be reached, or is none of Postgres, is told by its connection", async () => {
  const request = { connectionId: "shop", statements: [] };
  const away = runSql({ ...connection, port: 1 }, request, { maxBytes: 1 });
  await expect(away).rejects.toThrow('the database of the connection "shop" cannot be reached');
  const other = runSql({ ...connection, connType: "mysql" }, request, { maxBytes: 1 });
  await expect(other).rejects.toThrow("is of the type mysql: sql runs on postgres");
});
