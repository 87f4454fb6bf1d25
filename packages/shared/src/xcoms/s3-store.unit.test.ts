import { startObjectStore } from "@millrace/testkit";
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { S3Store, type S3Options } from "./s3-store.ts";

const server = await startObjectStore();
afterAll(() => server.close());
beforeEach(() => {
  server.objects.clear();
  server.requests.length = 0;
  server.faults.length = 0;
  server.isDenied = false;
});

const open = (options: Partial<S3Options> = {}) =>
  new S3Store({
    bucket: server.bucket,
    endpoint: server.url,
    region: server.region,
    accessKeyId: server.accessKeyId,
    secretAccessKey: server.secretAccessKey,
    sessionToken: "",
    timeoutMs: 60_000,
    firstPauseMs: 1,
    ...options,
  });

const KEY = "team/dag/manual__2026-01-01T00_00_00/load/-1/id/return_value-x.json";
const VALUE = Buffer.from('{"text": "žluťoučký kůň"}');

describe("an object", () => {
  test("is put, got whole, and deleted", async () => {
    const store = open();
    await store.put(KEY, VALUE);
    expect(server.objects.get(KEY)).toEqual(VALUE);
    expect(Buffer.from((await store.get(KEY)) ?? expect.unreachable())).toEqual(VALUE);
    await store.delete(KEY);
    expect(server.objects.size).toBe(0);
  });

  test("may be empty, or large", async () => {
    for (const value of [Buffer.alloc(0), Buffer.alloc(9_000_000, "x")]) {
      await open().put(KEY, value);
      expect(Buffer.from((await open().get(KEY)) ?? expect.unreachable()).equals(value)).toBe(true);
    }
  });

  test("that is not there is undefined, and deleted all the same", async () => {
    expect(await open().get(KEY)).toBeUndefined();
    await open().delete(KEY);
  });
});

describe("what may pass", () => {
  test.each([
    ["503 SlowDown", { status: 503, code: "SlowDown" }],
    ["500 InternalError", { status: 500, code: "InternalError" }],
    ["400 RequestTimeout", { status: 400, code: "RequestTimeout" }],
    ["a connection that is cut", "cut"],
  ] as const)("is tried again: %s", async (_what, fault) => {
    server.faults.push(fault, fault, fault);
    await open().put(KEY, VALUE);
    expect(server.requests).toHaveLength(4);
    expect(server.objects.get(KEY)).toEqual(VALUE);
  });

  test("an answer that does not come is not waited for longer than a try may take", async () => {
    // A server of its own: what was given up may reach it at any time.
    const silent = await startObjectStore();
    onTestFinished(() => silent.close());
    silent.faults.push("hang", "hang", "hang", "hang");
    await expect(open({ endpoint: silent.url, timeoutMs: 100 }).put(KEY, VALUE)).rejects.toMatchObject({
      code: "XCOM_STORE_UNREACHABLE",
      message: expect.stringContaining("in 4 tries: no answer within 0.1 s") as string,
    });
    expect(silent.objects.size).toBe(0);
  });

  test("is told after four tries, with what came last", async () => {
    server.faults.push(...Array.from({ length: 4 }, () => ({ status: 503, code: "SlowDown" })));
    await expect(open().get(KEY)).rejects.toMatchObject({
      code: "XCOM_STORE_UNREACHABLE",
      message: expect.stringContaining("in 4 tries: it answered 503 SlowDown") as string,
    });
    expect(server.requests).toHaveLength(4);
  });

  test("a server that is not there is named, with the reason", async () => {
    await expect(open({ endpoint: "http://127.0.0.1:1" }).get(KEY)).rejects.toMatchObject({
      code: "XCOM_STORE_UNREACHABLE",
      message: expect.stringMatching(/127\.0\.0\.1:1\/values .*(ECONNREFUSED|bad port)/) as string,
    });
  });
});

describe("what does not pass is told at once", () => {
  test.each([
    ["a bucket that is missing", { bucket: "nowhere" }, "XCOM_STORE_NO_BUCKET", /no bucket nowhere/],
    ["an unknown key id", { accessKeyId: "AKIDOTHER" }, "XCOM_STORE_DENIED", /403 InvalidAccessKeyId/],
    ["a wrong secret key", { secretAccessKey: "wrong" }, "XCOM_STORE_DENIED", /403 SignatureDoesNotMatch/],
    ["a wrong region", { region: "us-east-1" }, "XCOM_STORE_DENIED", /403 AuthorizationHeaderMalformed/],
  ] as const)("%s", async (_what, options, code, message) => {
    const store = open(options);
    for (const act of [() => store.put(KEY, VALUE), () => store.get(KEY), () => store.delete(KEY)]) {
      const error: unknown = await act().catch((caught: unknown) => caught);
      expect(error).toMatchObject({ code, message: expect.stringMatching(message) as string });
      expect(String(error)).not.toContain(server.secretAccessKey);
    }
    expect(server.requests).toHaveLength(3);
  });

  test("a key that may not do it", async () => {
    server.isDenied = true;
    await expect(open().put(KEY, VALUE)).rejects.toMatchObject({
      code: "XCOM_STORE_DENIED",
      message: expect.stringContaining("refused PUT in the bucket values") as string,
    });
  });

  test("any other refusal, with the server's words", async () => {
    server.faults.push({ status: 400, code: "InvalidArgument" });
    await expect(open().put(KEY, VALUE)).rejects.toMatchObject({
      code: "XCOM_STORE_REFUSED",
      message: expect.stringContaining("400 InvalidArgument") as string,
    });
  });
});
