// The API as a program uses it: one login, connections that stay open.
import { Agent, request } from "node:http";
import { ADMIN } from "./engine.ts";

export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly ms: number;
}

export class ApiClient {
  readonly #url: URL;
  readonly #agent: Agent;
  #token = "";

  private constructor(url: URL, connections: number) {
    this.#url = url;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  static async logIn(url: URL, connections: number): Promise<ApiClient> {
    const client = new ApiClient(url, connections);
    const { body } = await client.send("POST", "/auth/token", ADMIN);
    client.#token = (body as { access_token: string }).access_token;
    return client;
  }

  /** @throws Error for every answer but a good one */
  send(method: "GET" | "POST", path: string, body?: unknown): Promise<Answer> {
    const begun = performance.now();
    const text = body === undefined ? undefined : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const sent = request(
        new URL(path, this.#url),
        {
          method,
          agent: this.#agent,
          headers: {
            authorization: `Bearer ${this.#token}`,
            ...(text === undefined
              ? {}
              : { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.once("error", reject);
          response.once("end", () => {
            const answered = Buffer.concat(chunks).toString();
            const status = response.statusCode ?? 0;
            if (status >= 300) reject(new Error(`${method} ${path}: ${status} ${answered}`));
            else resolve({ status, body: JSON.parse(answered), ms: performance.now() - begun });
          });
        },
      );
      sent.once("error", reject);
      sent.end(text);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
