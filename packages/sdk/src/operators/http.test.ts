import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { Dag } from "../index.ts";
import { artifact } from "../runtime/artifact.ts";
import { FakeHost, runRequest } from "../runtime/fake-host.ts";
import { afterAll, beforeEach, expect, test } from "vitest";
import type { Json } from "../spec/index.ts";
import { http, type HttpOptions } from "./index.ts";

let answer: RequestListener;
const seen: { method: string; url: string; headers: IncomingMessage["headers"]; body: string }[] = [];
const server = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk: Buffer) => (body += chunk.toString()));
  request.on("end", () => {
    seen.push({ method: request.method ?? "", url: request.url ?? "", headers: request.headers, body });
    answer(request, response);
  });
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
afterAll(() => server.close());
beforeEach(() => {
  seen.length = 0;
  answer = (_request, response) => response.end('{"ok":true}');
});

let count = 0;
function run(options: HttpOptions, host = new FakeHost()) {
  const dag = new Dag(`http_${++count}`);
  dag.task("only", http(options))();
  return artifact.run(runRequest(dag.dagId, "only", { params: { id: "a b" } }), host);
}
const answers = (...list: readonly (readonly [number, Record<string, string>?])[]) => {
  let next = 0;
  answer = (_request, response) => {
    const [status, headers = {}] = list[Math.min(next++, list.length - 1)] ?? [200];
    response.writeHead(status, headers).end(status === 200 ? "fine" : "not fine");
  };
};

test("address, headers, query and body are templates, and the answer's JSON is the value", async () => {
  const outcome = await run({
    method: "POST",
    url: `${base}/days/{{ ds }}`,
    query: { id: "{{ params.id }}" },
    headers: { "x-run": "{{ run_id }}" },
    body: { day: "{{ ds_nodash }}" },
  });
  expect(outcome).toEqual({ kind: "success", returnValue: { ok: true } });
  expect(seen).toMatchObject([{ method: "POST", url: "/days/2026-01-01?id=a+b", body: '{"day":"20260101"}' }]);
  expect(seen[0]?.headers).toMatchObject({
    "x-run": "scheduled__2026-01-01T00:00:00+00:00",
    "content-type": "application/json",
  });
});

test("a connection gives the address, the login and headers", async () => {
  const host = new FakeHost();
  const { hostname, port } = new URL(base);
  const connection = { connType: "http", host: hostname, port: Number(port), login: "me", password: "pw" };
  host.connections.set("api", { connectionId: "api", ...connection, extra: { "x-key": "k" } });
  expect(await run({ connectionId: "api", endpoint: "v1/{{ ds }}" }, host)).toMatchObject({ kind: "success" });
  expect(seen).toMatchObject([
    { url: "/v1/2026-01-01", headers: { authorization: `Basic ${btoa("me:pw")}`, "x-key": "k" } },
  ]);
});

test("a login in the address is sent as one, and stands in no line and in no error", async () => {
  const host = new FakeHost();
  const masked: Json[] = [];
  const hides = Object.assign(host, { mask: (secret: Json) => void masked.push(secret) });
  const address = base.replace("//", "//ada:s3cret-pw@");
  expect(await run({ url: `${address}/x` }, hides)).toMatchObject({ kind: "success" });
  expect(seen).toMatchObject([{ url: "/x", headers: { authorization: `Basic ${btoa("ada:s3cret-pw")}` } }]);
  expect(masked).toEqual(["s3cret-pw"]);
  answers([404]);
  const outcomes = [await run({ url: address }, host), await run({ url: address.replace("http", "ftp") }, host)];
  expect(outcomes).toMatchObject([{ kind: "failed" }, { kind: "failed" }]);
  expect(JSON.stringify([outcomes, host.lines])).not.toContain("s3cret-pw");
});

test("a header of the task takes the place of the one that the body or the connection brings", async () => {
  await run({ method: "POST", url: base, headers: { "Content-Type": "application/vnd.api+json" }, body: { a: 1 } });
  expect(seen[0]?.headers["content-type"]).toBe("application/vnd.api+json");
  const outcome = await run({ url: base, headers: { "x-token": "s3cret\nline" } });
  expect(outcome).toMatchObject({ error: { message: expect.stringContaining('header "x-token"') as string } });
  expect(JSON.stringify(outcome)).not.toContain("s3cret");
});

test.each([400, 401, 404, 422])("a refusal (%i) is asked once and uses no retry of the task", async (status) => {
  answers([status]);
  expect(await run({ url: base })).toMatchObject({ kind: "failed", retryable: false, error: { name: "HttpRefused" } });
  expect(seen).toHaveLength(1);
});

test.each([408, 425, 429, 500, 503])("%i is asked again", async (status) => {
  answers([status], [200]);
  expect(await run({ url: base, retryDelay: 0 })).toEqual({ kind: "success", returnValue: "fine" });
  expect(seen).toHaveLength(2);
});

test("a server that stays away is left to the retries of the task", async () => {
  answers([500]);
  expect(await run({ url: base, retryDelay: 0 })).toMatchObject({ kind: "failed", retryable: true });
  expect(seen).toHaveLength(3);
  const gone = await run({ url: "http://127.0.0.1:1/", retryDelay: 0 });
  expect(gone).toMatchObject({ kind: "failed", retryable: true, error: { name: "HttpFailed" } });
});

test("what a repeat could do twice is asked once", async () => {
  answers([500]);
  expect(await run({ url: base, method: "POST", retryDelay: 0 })).toMatchObject({ kind: "failed", retryable: true });
  expect(seen).toHaveLength(1);
});

test("Retry-After is heeded, and one that is too long fails the try", async () => {
  answers([429, { "retry-after": "0" }], [200]);
  expect(await run({ url: base, retryDelay: 50 })).toMatchObject({ kind: "success" });
  answers([503, { "retry-after": "3600" }]);
  expect(await run({ url: base })).toMatchObject({
    kind: "failed",
    retryable: true,
    error: { message: expect.stringContaining("it asks to come back in 3600 s") as string },
  });
});

test("a check and a filter of the file judge the answer", async () => {
  answers([404]);
  const found = http({
    url: base,
    responseCheck: ({ status }) => status === 404,
    responseFilter: ({ text }) => text.length,
  });
  const dag = new Dag("http_filter");
  dag.task("only", found)();
  expect(await artifact.run(runRequest("http_filter", "only"), new FakeHost())).toEqual({
    kind: "success",
    returnValue: 8,
  });
  expect(await run({ url: base, responseCheck: () => false })).toMatchObject({ kind: "failed", retryable: true });
});

test("a server that says nothing, or too much, ends the request", async () => {
  answer = () => undefined;
  expect(await run({ url: base, timeout: 0.1, attempts: 1 })).toMatchObject({
    error: { message: expect.stringContaining("no answer within 0.1 s") as string },
  });
  server.closeAllConnections();
  answer = (_request, response) => response.end("x".repeat(100));
  expect(await run({ url: base, maxResponseBytes: 99 })).toMatchObject({ kind: "failed", retryable: false });
});

test("a task that has to stop gives its request up", async () => {
  const host = new FakeHost();
  answer = () => host.controller.abort(new Error("cleared"));
  expect(await run({ url: base }, host)).toMatchObject({ kind: "failed", error: { message: "cleared" } });
  server.closeAllConnections();
});

test("wrong options are told when the DAG is read", () => {
  const dag = new Dag("http_wrong");
  dag.task("only", http({ methd: "GET" } as HttpOptions))();
  const reading = artifact.dags().find(({ dagId }) => dagId === "http_wrong");
  expect(JSON.stringify(reading)).toContain("one of url and connectionId is needed");
  expect(JSON.stringify(reading)).toContain("did you mean");
});
