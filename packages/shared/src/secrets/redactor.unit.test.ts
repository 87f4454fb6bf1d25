import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { Redactor } from "./redactor.ts";

const make = (...secrets: readonly unknown[]): Redactor => {
  const redactor = new Redactor({ isOn: true, minLength: 5, names: ["pesel"] });
  for (const secret of secrets) redactor.add(secret);
  return redactor;
};
const SECRET = 'p@ss "wörd"/\\+ä 🔑\tend';

describe("a secret is hidden", () => {
  test.each<[string, (secret: string) => string]>([
    ["as it is", (s) => s],
    ["within JSON", (s) => JSON.stringify({ inner: [s] })],
    ["within JSON within JSON", (s) => JSON.stringify({ body: JSON.stringify({ inner: s }) })],
    [
      "within JSON of ASCII alone",
      (s) => JSON.stringify(s).replace(/[^ -~]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`),
    ],
    ["within an address", (s) => `https://ada:${encodeURIComponent(s)}@host/`],
    ["within an address in lower case", (s) => encodeURIComponent(s).replace(/%../g, (e) => e.toLowerCase())],
    ["within a form", (s) => new URLSearchParams({ s }).toString()],
    ["as base64", (s) => Buffer.from(s).toString("base64")],
    ["as base64 for addresses", (s) => Buffer.from(s).toString("base64url")],
    ["within a basic authorization", (s) => Buffer.from(`ada:${s}`).toString("base64")],
    ["within base64 at another offset", (s) => Buffer.from(`user:${s}:more`).toString("base64")],
    ["within base64 at a third offset", (s) => Buffer.from(`12${s}34`).toString("base64")],
  ])("%s", (_what, write) => {
    const written = `before ${write(SECRET)} after`;
    const redacted = make(SECRET).redact(written);
    expect(redacted).toContain("***");
    expect(redacted.length).toBeLessThan(written.length);
    // Not a trace of three bytes in a row is left of what stood for it.
    expect(redacted).toMatch(/^before .{0,40}\*\*\*.{0,14} after$/);
  });

  test("line by line when it has several, as a private key does", () => {
    const key = `-----BEGIN KEY-----\n${randomBytes(48).toString("base64")}\n${randomBytes(48).toString("base64")}\n-----END KEY-----`;
    const [, first = "", second = ""] = key.split("\n");
    const redactor = make(key);
    expect(redactor.redact(`line ${first}`)).toBe("line ***");
    expect(redactor.redact(second)).toBe("***");
    expect(redactor.redact(JSON.stringify({ key }))).toBe('{"key":"***"}');
  });

  test("more than once in a line, the longer one where two begin alike", () => {
    expect(make("abcdef", "abcdefgh").redact("abcdef abcdefgh abcdefg")).toBe("*** *** ***g");
  });

  test("wherever it stands in an object, with what stands under names of secrets", () => {
    const value = {
      a: ["x hunter22 y", 1],
      db_password: "short",
      inner: { API_KEY: { deep: "a" }, pesel: "b" },
      n: null,
    };
    expect(make("hunter22").redactValue(value)).toEqual({
      a: ["x *** y", 1],
      db_password: "***",
      inner: { API_KEY: { deep: "***" }, pesel: "***" },
      n: null,
    });
    expect(make().redactValue("anything", "my_token")).toBe("***");
  });

  test("when it is a number, or a text within an object that was given", () => {
    const redactor = make(12_345_678, { inner: ["hidden-one"] });
    expect(redactor.redact("pin 12345678, hidden-one")).toBe("pin ***, ***");
    expect(redactor.redactValue({ pin: 12_345_678 })).toEqual({ pin: "***" });
  });
});

test("what is short, blank or the product's own name is not hidden, and nothing when it is off", () => {
  const redactor = make("abcd", "     ", "millrace");
  expect(redactor.redact("abcd millrace      .")).toBe("abcd millrace      .");
  const off = new Redactor({ isOn: false, minLength: 5, names: [] });
  off.add("hunter22");
  expect(off.redact("hunter22")).toBe("hunter22");
  expect(off.redactValue({ password: "x" })).toEqual({ password: "x" });
});

test("a connection hides its password, and of its extra what is named so", () => {
  const redactor = make();
  redactor.addConnection({
    password: "hunter22",
    extra: { region: "europe-1", client_secret: "s3cr3t-1", a: { token: "t0k3n-1" } },
  });
  expect(redactor.redact("hunter22 europe-1 s3cr3t-1 t0k3n-1")).toBe("*** europe-1 *** ***");
  redactor.addConnection({ host: "https://ada:in%20h%C3%B6st@api.example" });
  redactor.addConnection({ host: "https://ada:100%25-%zz@api.example" });
  expect(redactor.redact("https://ada:in%20h%C3%B6st@api.example: in höst")).toBe("https://ada:***@api.example: ***");
  redactor.addVariable("config", '{"password": "from-json-1", "host": "visible-host"}');
  redactor.addVariable("plain", "visible-value");
  expect(redactor.redact("from-json-1 visible-host visible-value")).toBe("*** visible-host visible-value");
});

test("a megabyte of log with hundreds of secrets takes seconds at most on a busy machine", () => {
  const redactor = make(...Array.from({ length: 500 }, () => randomBytes(16).toString("hex")), "hunter22");
  const text = `${"an ordinary line of a log, 2026-01-01T00:00:00Z, 200 OK, 12 ms; ".repeat(16_000)}hunter22`;
  const began = performance.now();
  expect(redactor.redact(text).endsWith(" ***")).toBe(true);
  expect(performance.now() - began).toBeLessThan(5_000);
});
