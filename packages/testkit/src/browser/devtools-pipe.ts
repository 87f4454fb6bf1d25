// The protocol of Chromium's developer tools: JSON, each message ended by a zero byte. Answers have the number of their
// call, events a name.
import type { Readable, Writable } from "node:stream";

export type Answer = Readonly<Record<string, unknown>>;

interface Message {
  readonly id?: number;
  readonly result?: Answer;
  readonly error?: { readonly message: string };
  readonly method?: string;
  readonly params?: Answer;
  readonly sessionId?: string;
}

interface Call {
  readonly resolve: (result: Answer) => void;
  readonly reject: (error: Error) => void;
}

export class DevtoolsPipe {
  readonly #to: Writable;
  readonly #calls = new Map<number, Call>();
  #last = 0;
  #failure: Error | undefined;
  #rest = "";

  constructor(to: Writable, from: Readable) {
    this.#to = to;
    from.setEncoding("utf8").on("data", (text: string) => this.#read(text));
    from.on("close", () => this.fail(new Error("The browser has ended.")));
    to.on("error", (error) => this.fail(error));
    from.on("error", (error) => this.fail(error));
  }

  async send(method: string, params: Answer = {}, sessionId?: string): Promise<Answer> {
    if (this.#failure !== undefined) throw this.#failure;
    const id = ++this.#last;
    const answered = new Promise<Answer>((resolve, reject) =>
      this.#calls.set(id, { resolve, reject: (error) => reject(new Error(`${method}: ${error.message}`)) }),
    );
    this.#to.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return await answered;
  }

  fail(error: Error): void {
    this.#failure ??= error;
    for (const call of this.#calls.values()) call.reject(error);
    this.#calls.clear();
  }

  #read(text: string): void {
    const parts = (this.#rest + text).split("\0");
    this.#rest = parts.pop() ?? "";
    for (const part of parts) {
      const { id, result, error } = JSON.parse(part) as Message; // what Chromium writes
      const call = id === undefined ? undefined : this.#calls.get(id);
      if (id === undefined || call === undefined) continue;
      this.#calls.delete(id);
      if (error === undefined) call.resolve(result ?? {});
      else call.reject(new Error(error.message));
    }
  }
}
