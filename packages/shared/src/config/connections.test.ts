import { expect, test } from "vitest";
import { childEnvironment, connectionFromEnvironment, variableFromEnvironment } from "./index.ts";

const connection = (value: string) => connectionFromEnvironment("my_db", { MILLRACE_CONN_MY_DB: value });

test("a connection is read from a URI, with what was escaped as it was meant", () => {
  expect(connection("postgresql://ada:p%40ss%2F@db.example:5433/sales?sslmode=require")).toEqual({
    connectionId: "my_db",
    connType: "postgres",
    host: "db.example",
    port: 5433,
    schema: "sales",
    login: "ada",
    password: "p@ss/",
    extra: { sslmode: "require" },
  });
  expect(connection("google-cloud-platform://")).toEqual({ connectionId: "my_db", connType: "google_cloud_platform" });
});

test("a connection is read from JSON", () => {
  expect(connection('{"conn_type": "http", "host": "h", "extra": {"a": 1}}')).toEqual({
    connectionId: "my_db",
    connType: "http",
    host: "h",
    extra: { a: 1 },
  });
});

test("a connection or variable that the environment does not hold is undefined", () => {
  expect(connectionFromEnvironment("my_db", {})).toBeUndefined();
  expect(variableFromEnvironment("greeting", {})).toBeUndefined();
  expect(variableFromEnvironment("greeting", { MILLRACE_VAR_GREETING: "" })).toBe("");
});

test("a child inherits everything but the ways into our own services", () => {
  const env = {
    PATH: "/bin",
    LANG: "C",
    PGPASSWORD: "x",
    PGHOST: "h",
    DATABASE_URL: "x",
    REDIS_URL: "x",
    MILLRACE__DATABASE__URL: "x",
    MILLRACE_CONN_A: "x",
    AIRFLOW__CORE__FERNET_KEY: "x",
    NODE_OPTIONS: "--inspect",
    UNSET: undefined,
  };
  expect(childEnvironment(env)).toEqual({ PATH: "/bin", LANG: "C" });
});
