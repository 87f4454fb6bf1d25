import { describe, expect, test } from "vitest";
import { connectionTarget, mergeHeaders, urlTarget, withoutLogin } from "./http-target.ts";
import type { ConnectionValue } from "./protocol.ts";

const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;
const of = (given: Partial<ConnectionValue>, path?: string) =>
  connectionTarget({ connectionId: "api", connType: "http", ...given }, path);

describe("an address", () => {
  test.each<[string, string, string | undefined]>([
    ["https://host:8443/a?b=c", "https://host:8443/a?b=c", undefined],
    ["https://ada:p%40ss%2F%C3%A4@host/a", "https://host/a", "ada:p@ss/ä"],
    ["https://t0k3n@host/a", "https://host/a", "t0k3n:"],
    ["http://ada:100%@host/", "http://host/", "ada:100%"],
  ])("%s is asked without its login, which becomes a header", (given, url, login) => {
    const target = urlTarget(given);
    expect(target.url.href).toBe(url);
    expect(target.headers).toEqual(login === undefined ? {} : { authorization: basic(login) });
    expect(target.secret).toBe(login === undefined ? undefined : login.replace(/^ada:|:$/g, ""));
  });

  test.each(["ftp://ada:s3cret@host/", "http://ada:s3cret@:x/", "//ada:s3cret@host", "nowhere"])(
    "%s is refused, and its password is not quoted",
    (given) => {
      expect(() => urlTarget(given)).toThrow("must be an http or https URL");
      expect(withoutLogin(given)).not.toContain("s3cret");
      expect(() => urlTarget(given)).not.toThrow("s3cret");
    },
  );
});

describe("a connection", () => {
  test.each<[Partial<ConnectionValue>, string | undefined, string]>([
    [{ host: "h" }, undefined, "http://h/"],
    [{ host: "h", connType: "https" }, "a", "https://h/a"],
    [{ host: "h", schema: "https", port: 8443 }, "/a", "https://h:8443/a"],
    [{ host: "https://h", port: 8443 }, "a", "https://h:8443/a"],
    [{ host: "https://h/base/", schema: "v1" }, "a?b=c", "https://h/base/a?b=c"],
    [{ host: "h", schema: "v1" }, "a", "http://h/v1/a"],
  ])("%j with path %s goes to %s", (given, path, url) => {
    expect(of(given, path).url.href).toBe(url);
  });

  test("gives its login in UTF-8 and the texts of its extra, but nothing that is meant for Airflow's client", () => {
    const extra = { "X-Key": "k", proxy: "http://ada:pw@proxy", verify: "/ca.pem", rows: 5 };
    expect(of({ host: "h", login: "ada", password: "p🔑ß", extra }).headers).toEqual({
      authorization: basic("ada:p🔑ß"),
      "x-key": "k",
    });
    expect(of({ host: "h", login: "ada", extra: { Authorization: "Bearer x" } }).headers).toEqual({
      authorization: "Bearer x",
    });
    expect(of({ host: "https://ada:pw@h" })).toMatchObject({
      headers: { authorization: basic("ada:pw") },
      secret: "pw",
    });
  });

  test("without a host, or with one that makes no address, is refused by its name", () => {
    expect(() => of({})).toThrow('connection "api" has no host');
    expect(() => of({ host: "a b" })).toThrow("must be an http or https URL");
  });
});

test("a header is sent once, as the last one says, however its name is written", () => {
  expect(mergeHeaders({ "content-type": "application/json" }, { "Content-Type": "text/csv" })).toEqual({
    "content-type": "text/csv",
  });
});

test("a header that cannot be sent is named without its value", () => {
  expect(() => mergeHeaders({ "x-token": "s3cret\ns3cret" })).toThrow('header "x-token" cannot be sent');
  expect(() => mergeHeaders({ "x-token": "s3cret\ns3cret" })).not.toThrow("s3cret");
});
