// A server that speaks as much of S3's protocol as Millrace asks of it: objects of one bucket, in memory, for requests whose
// signature (version 4) and checksum are right; it computes them itself, with nothing of the client. It fails as a test
// wishes.
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

/** What becomes of one request: an error of the server, no answer at all, or a connection that is cut. */
export type StoreFault = { readonly status: number; readonly code: string } | "hang" | "cut";

export interface ObjectStore {
  readonly url: string;
  readonly region: string;
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** By key. */
  readonly objects: Map<string, Buffer>;
  /** `PUT key`, in the order in which they came, those that failed included. */
  readonly requests: string[];
  /** For the next requests, one each. */
  readonly faults: StoreFault[];
  /** Of the key that signs: may it do nothing here? */
  isDenied: boolean;
  close(): Promise<void>;
}

const MAX_SKEW_MS = 15 * 60_000;

export async function startObjectStore(): Promise<ObjectStore> {
  const server = createServer((request, response) => {
    handle(store, request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : new Error(String(error)));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the object store has no port");
  const store: ObjectStore = {
    url: `http://127.0.0.1:${address.port}`,
    region: "eu-test-1",
    bucket: "values",
    accessKeyId: "AKIDTEST",
    secretAccessKey: "a secret key/of+the test",
    objects: new Map(),
    requests: [],
    faults: [],
    isDenied: false,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return store;
}

async function handle(store: ObjectStore, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const { pathname } = new URL(request.url ?? "/", store.url);
  const [, bucket = "", ...parts] = pathname.split("/");
  const key = parts.map(decodeURIComponent).join("/");
  const method = request.method ?? "";
  store.requests.push(`${method} ${key}`);
  const refuse = (status: number, code: string, message = "") => {
    response.writeHead(status, { "content-type": "application/xml" });
    response.end(
      `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${message}</Message></Error>`,
    );
  };
  const fault = store.faults.shift();
  if (fault === "hang") return;
  if (fault === "cut") return void request.socket.resetAndDestroy();
  if (fault !== undefined) return refuse(fault.status, fault.code);
  const wrong = wrongSignature(store, request, body);
  if (wrong !== undefined) return refuse(403, wrong, "The request is not signed as it should be.");
  if (store.isDenied) return refuse(403, "AccessDenied", "Access Denied");
  if (bucket !== store.bucket) return refuse(404, "NoSuchBucket", "The specified bucket does not exist");
  const found = store.objects.get(key);
  switch (method) {
    case "PUT":
      store.objects.set(key, body);
      response.writeHead(200, { etag: `"${createHash("md5").update(body).digest("hex")}"` }).end();
      return;
    case "GET":
      if (found === undefined) return refuse(404, "NoSuchKey", "The specified key does not exist.");
      response.writeHead(200, { "content-type": "application/json", "content-length": found.byteLength }).end(found);
      return;
    case "DELETE":
      store.objects.delete(key);
      response.writeHead(204).end();
      return;
    default:
      return refuse(405, "MethodNotAllowed");
  }
}

/** The code of S3's answer, if the request is not signed by the key that the store knows, for this content and moment. */
function wrongSignature(store: ObjectStore, request: IncomingMessage, body: Buffer): string | undefined {
  const [, scope = "", names = "", given = ""] =
    /^AWS4-HMAC-SHA256 Credential=([^,]+),\s*SignedHeaders=([^,]+),\s*Signature=([0-9a-f]{64})$/.exec(
      request.headers.authorization ?? "",
    ) ?? [];
  const [id, day = "", region, service, end] = scope.split("/");
  if (id !== store.accessKeyId) return "InvalidAccessKeyId";
  const at = String(request.headers["x-amz-date"] ?? "");
  const [, y, mo, d, h, mi, s] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(at) ?? [];
  const skew = Math.abs(Date.parse(`${y}-${mo}-${d}T${h}:${mi}:${s}Z`) - Date.now());
  if (!(skew <= MAX_SKEW_MS)) return "RequestTimeTooSkewed";
  if (region !== store.region || service !== "s3" || end !== "aws4_request" || !at.startsWith(day)) {
    return "AuthorizationHeaderMalformed";
  }
  const content = createHash("sha256").update(body).digest("hex");
  if (request.headers["x-amz-content-sha256"] !== content) return "XAmzContentSHA256Mismatch";
  const signed = names.split(";");
  if (!signed.includes("host") || !signed.includes("x-amz-date")) return "SignatureDoesNotMatch";
  const { pathname, searchParams } = new URL(request.url ?? "/", store.url);
  const query = [...searchParams]
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .sort()
    .join("&");
  const headers = signed.map((name) => `${name}:${String(request.headers[name] ?? "").trim()}\n`).join("");
  const canonical = [request.method, pathname, query, headers, names, content].join("\n");
  const hash = createHash("sha256").update(canonical).digest("hex");
  const toSign = ["AWS4-HMAC-SHA256", at, [day, region, service, end].join("/"), hash].join("\n");
  const hmac = (key: string | Buffer, text: string) => createHmac("sha256", key).update(text).digest();
  const signing = [day, region, service, end].reduce<string | Buffer>(hmac, `AWS4${store.secretAccessKey}`);
  const expected = hmac(signing, toSign);
  return timingSafeEqual(expected, Buffer.from(given, "hex")) ? undefined : "SignatureDoesNotMatch";
}
