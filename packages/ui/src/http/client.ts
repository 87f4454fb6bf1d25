// Requests to our own API. The login is a cookie that scripts cannot read; without one the login page opens.

export class HttpProblem extends Error {
  override readonly name = "HttpProblem";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Nothing answered. */
export class ServerUnreachable extends Error {
  override readonly name = "ServerUnreachable";

  constructor() {
    super("The server cannot be reached. Is the API running, and is there a network? What is shown may be old.");
  }
}

export interface RequestOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** @throws HttpProblem with the sentence of the server, or ServerUnreachable. */
export async function request<T>(method: string, url: string, options: RequestOptions = {}): Promise<T> {
  const response = await fetch(url, {
    method,
    credentials: "same-origin",
    headers: { ...(options.body === undefined ? {} : { "content-type": "application/json" }), ...options.headers },
    ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  }).catch((error: unknown) => {
    throw options.signal?.aborted === true ? error : new ServerUnreachable();
  });
  if (response.ok) return (response.status === 204 ? undefined : await response.json()) as T;
  const answer: unknown = await response.json().catch(() => undefined);
  throw new HttpProblem(response.status, sentenceOf(answer) ?? `The server answered ${response.status}.`);
}

/** `{"detail": "…"}`, or the list of a refused request. */
export function sentenceOf(answer: unknown): string | undefined {
  const detail = (answer as { detail?: unknown } | undefined)?.detail;
  if (typeof detail === "string") return detail;
  if (!Array.isArray(detail)) return undefined;
  return (detail as { loc?: string[]; msg?: string }[])
    .map((each) => `${each.loc?.slice(1).join(".") ?? ""} ${each.msg ?? ""}`.trim())
    .join("; ");
}
