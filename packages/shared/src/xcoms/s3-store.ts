// A bucket of S3, or of anything that speaks its protocol. Each request is signed, has a time of its own, and is tried
// again after what may pass: no answer, an answer cut short, 408, 429 and 5xx. Everything else is told at once, in words.
import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { AwsClient } from "aws4fetch";
import { AppError, messageOf } from "../errors/index.ts";
import type { XComStore } from "./xcom-store.ts";

export interface S3Options {
  readonly bucket: string;
  /** `https://host:port` of an S3-compatible server; empty: AWS. */
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Empty: the keys are no temporary ones. */
  readonly sessionToken: string;
  /** For one try, from the request to the last byte of the answer. */
  readonly timeoutMs: number;
  /** Before the second try; doubled before each further one. @default 200 */
  readonly firstPauseMs?: number;
}

const TRIES = 4;
const PASSING_STATUS = new Set([408, 429, 500, 502, 503, 504]);
/** Answered with 400. */
const PASSING_CODES = new Set(["RequestTimeout", "SlowDown"]);

interface Answer {
  readonly status: number;
  readonly body: Uint8Array;
  /** The `<Code>` of an error, else empty. */
  readonly code: string;
  readonly message: string;
}

export class S3Store implements XComStore {
  readonly #options: S3Options;
  readonly #client: AwsClient;
  readonly #base: string;

  constructor(options: S3Options) {
    const { accessKeyId, secretAccessKey, sessionToken, region } = options;
    this.#options = options;
    this.#base = baseOf(options);
    this.#client = new AwsClient({
      ...{ accessKeyId, secretAccessKey, region, service: "s3", retries: 0 },
      ...(sessionToken === "" ? {} : { sessionToken }),
    });
  }

  async put(key: string, value: Uint8Array): Promise<void> {
    const answer = await this.#ask("PUT", key, value);
    if (answer.status !== 200) throw this.#refusal("PUT", answer);
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    const answer = await this.#ask("GET", key);
    if (answer.status === 200) return answer.body;
    // A server may leave the code out.
    if (answer.status === 404 && answer.code !== "NoSuchBucket") return undefined;
    throw this.#refusal("GET", answer);
  }

  async delete(key: string): Promise<void> {
    const answer = await this.#ask("DELETE", key);
    const isGone = answer.status === 404 && answer.code !== "NoSuchBucket";
    if (answer.status !== 204 && answer.status !== 200 && !isGone) throw this.#refusal("DELETE", answer);
  }

  async #ask(method: string, key: string, body?: Uint8Array): Promise<Answer> {
    let cause: unknown;
    for (let tried = 0; tried < TRIES; tried++) {
      // Half of the pause is chance: workers that lost the store at once do not come back to it at once.
      if (tried > 0) await pause((this.#options.firstPauseMs ?? 200) * 2 ** (tried - 1) * (0.5 + Math.random()));
      try {
        const answer = await this.#send(method, key, body);
        if (!PASSING_STATUS.has(answer.status) && !PASSING_CODES.has(answer.code)) return answer;
        cause = `it answered ${answer.status} ${answer.code}`.trimEnd();
      } catch (error) {
        cause = reasonOf(error, this.#options.timeoutMs);
      }
    }
    const values = { target: this.#base, tries: TRIES, cause: String(cause) };
    throw new AppError("XCOM_STORE_UNREACHABLE", values);
  }

  async #send(method: string, key: string, body?: Uint8Array): Promise<Answer> {
    // The server compares it: what arrives otherwise than it was sent is refused.
    const hash = createHash("sha256")
      .update(body ?? "")
      .digest("hex");
    const response = await this.#client.fetch(`${this.#base}/${key.split("/").map(encodeURIComponent).join("/")}`, {
      method,
      headers: { "x-amz-content-sha256": hash, ...(body === undefined ? {} : { "content-type": "application/json" }) },
      ...(body === undefined ? {} : { body: body as Uint8Array<ArrayBuffer> }), // no value is in shared memory
      signal: AbortSignal.timeout(this.#options.timeoutMs),
      redirect: "manual",
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    const text = response.status < 300 ? "" : new TextDecoder().decode(bytes);
    const tag = (name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(text)?.[1] ?? "";
    return { status: response.status, body: bytes, code: tag("Code"), message: tag("Message") };
  }

  #refusal(method: string, { status, code, message }: Answer): AppError {
    const { bucket } = this.#options;
    const target = this.#base;
    if (status === 404) return new AppError("XCOM_STORE_NO_BUCKET", { bucket, target });
    const cause = [status, code, message.replace(/\.$/, "")].filter((part) => part !== "").join(" ");
    if (status === 401 || status === 403) return new AppError("XCOM_STORE_DENIED", { bucket, target, method, cause });
    return new AppError("XCOM_STORE_REFUSED", { bucket, target, method, cause });
  }
}

/** AWS gives each bucket a host, whose certificate covers no dots; other servers have buckets as folders. */
function baseOf({ bucket, endpoint, region }: S3Options): string {
  if (endpoint !== "") return `${endpoint.replace(/\/+$/, "")}/${bucket}`;
  const host = `s3.${region}.amazonaws.com`;
  return bucket.includes(".") ? `https://${host}/${bucket}` : `https://${bucket}.${host}`;
}

function reasonOf(error: unknown, timeoutMs: number): string {
  if (error instanceof Error && error.name === "TimeoutError") return `no answer within ${timeoutMs / 1000} s`;
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined ? messageOf(error) : messageOf(cause);
}
