// The API as a careful client uses it: a request that had no answer is repeated under the same key until it has one.
import { ADMIN_PASSWORD, type Fleet } from "../rig/fleet.ts";

export class ApiClient {
  readonly #fleet: Fleet;
  #token = "";
  #loggingIn: Promise<void> | undefined;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** The status and body, or undefined when there was no answer. */
  async send(
    method: "GET" | "POST" | "PATCH" | "DELETE",
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly status: number; readonly body: unknown } | undefined> {
    try {
      const base = this.#base();
      if (base === undefined) return undefined;
      // One for all that wait: a password takes long to check, and many at once would all be given up.
      if (this.#token === "")
        await (this.#loggingIn ??= this.#logIn(base).finally(() => (this.#loggingIn = undefined)));
      const response = await fetch(`${base}${path}`, {
        method,
        headers: {
          ...headers,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          authorization: `Bearer ${this.#token}`,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(10_000),
      });
      if (response.status === 401) this.#token = "";
      const text = await response.text();
      return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
    } catch {
      return undefined;
    }
  }

  async #logIn(base: string): Promise<void> {
    const response = await fetch(`${base}/auth/token`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ username: "admin", password: ADMIN_PASSWORD }),
      signal: AbortSignal.timeout(20_000),
    });
    // The API's own answer, of its documented shape.
    if (response.status === 201) this.#token = ((await response.json()) as { access_token: string }).access_token;
  }

  #base(): string | undefined {
    const lines = this.#fleet.named("api-1").lines;
    return lines.map((line) => /api is ready at (http\S+)/.exec(line)?.[1]).find((url) => url !== undefined);
  }
}
