import { describe, expect, test } from "vitest";
import {
  connectionFromObject,
  connectionToObject,
  connectionToUri,
  readConnection,
  type Connection,
} from "./connection-forms.ts";

describe("the URI form", () => {
  test.each<[string, Omit<Connection, "connectionId">]>([
    ["http://https://api.example:443/v1", { connType: "http", host: "https://api.example", port: 443, schema: "v1" }],
    ["http://host:80", { connType: "http", host: "host", port: 80 }],
    ["google-cloud-platform://", { connType: "google_cloud_platform" }],
    ["redis://:p%3Aw@cache:6379/0", { connType: "redis", host: "cache", port: 6379, password: "p:w", schema: "0" }],
    ["aws://@:99", { connType: "aws", port: 99 }],
    ["mysql://a%40b@[::1]:3306/db", { connType: "mysql", login: "a@b", host: "[::1]", port: 3306, schema: "db" }],
    ["x://h/?__extra__=%7B%22a%22%3A%7B%22b%22%3A1%7D%7D", { connType: "x", host: "h", extra: { a: { b: 1 } } }],
    [
      "my_type://under_score/s%2Ft?k=v%20w",
      { connType: "my_type", host: "under_score", schema: "s/t", extra: { k: "v w" } },
    ],
  ])("%s", (uri, expected) => {
    const read = readConnection("c", uri);
    expect(read).toEqual({ connectionId: "c", ...expected });
    // What was read can be written and read again.
    expect(readConnection("c", connectionToUri(read))).toEqual(read);
  });

  test("and the JSON form give back what they were made of", () => {
    const connection: Connection = {
      connectionId: "c",
      connType: "postgres",
      host: "db example",
      login: "a:b@c",
      password: "?/#%&+ ü",
      schema: "s?x",
      port: 1,
      extra: { a: "1&2", b: "=" },
    };
    expect(readConnection("c", connectionToUri(connection))).toEqual(connection);
    expect(connectionFromObject("c", connectionToObject(connection))).toEqual(connection);
    const nested = { ...connection, description: "ours", extra: { a: [1, { b: null }] } };
    expect(connectionFromObject("c", connectionToObject(nested))).toEqual(nested);
  });
});

test.each([
  ["neither://", 'no "://" here secret', "neither a URI"],
  ["bad json", "{secret", "not JSON"],
  ["no type", '{"host": "h", "password": "secret"}', "conn_type must be a text"],
  ["unknown field", '{"conn_type": "x", "hots": "secret"}', "it has no field hots"],
  ["bad port", "x://h:secret/", "port must be a number"],
  ["bad escape", "x://a:%zzsecret@h", "percent-encoded"],
  ["bad extra", '{"conn_type": "x", "extra": "secret"}', "not JSON"],
  ["listed extra", '{"conn_type": "x", "extra": ["secret"]}', "must be a JSON object"],
])("%s is refused with its reason, and is not quoted", (_what, given, reason) => {
  expect(() => readConnection("c", given)).toThrow(reason);
  try {
    readConnection("c", given);
  } catch (error) {
    expect(String(error)).not.toContain("secret");
  }
});
