// One process's way to one server: a TCP link that can be cut, slowed, made to swallow everything, or broken exactly
// around a commit. The server itself goes on undisturbed.
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export interface Link {
  readonly port: number;
  /** Open ones. */
  readonly connections: number;
  /** Resets every connection and refuses new ones. */
  cut(): void;
  /** Nothing passes any more, and nobody is told; what was sent arrives after `heal`, as TCP sends it again. */
  swallow(): void;
  slow(ms: number): void;
  /** Small pieces with pauses between them, cut where no message ends. */
  trickle(bytesPerSecond: number): void;
  /** What is on its way arrives now, in its order. */
  heal(): void;
  /**
   * Breaks the connection of the next commit, before the server has it or after it has answered: then the one who
   * committed cannot know. Resolves when that has happened.
   */
  breakNextCommit(when: "before" | "after"): Promise<void>;
  close(): Promise<void>;
}

const MOST_PIECE_BYTES = 500;
const LEAST_PIECE_MS = 5;

interface Waiting {
  readonly when: "before" | "after";
  readonly done: () => void;
}

/** Both ways of one connection. */
interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  /** What Postgres said of the session last: I idle, T in a transaction, E in a failed one. */
  status: string;
  /** The answer to the commit that was let through is not to arrive. */
  awaitsLoss: (() => void) | undefined;
}

export async function openLink(target: () => { readonly host: string; readonly port: number }): Promise<Link> {
  const pairs = new Set<Pair>();
  /** Of each way: brings what is late. */
  const hurry = new Set<() => void>();
  let isCut = false;
  let swallows = false;
  let delayMs = 0;
  let bytesPerMs: number | undefined;
  let waiting: Waiting | undefined;

  const reset = (pair: Pair) => {
    pair.client.resetAndDestroy();
    pair.server.resetAndDestroy();
  };
  const beforeForward = (pair: Pair, chunk: Buffer): boolean => {
    if (waiting === undefined || !commits(pair, chunk)) return true;
    const { when, done } = waiting;
    waiting = undefined;
    if (when === "after") {
      pair.awaitsLoss = done;
      return true;
    }
    reset(pair);
    done();
    return false;
  };
  const beforeAnswer = (pair: Pair, chunk: Buffer): boolean => {
    if (pair.awaitsLoss !== undefined) {
      reset(pair);
      pair.awaitsLoss();
      return false;
    }
    pair.status = statusIn(chunk) ?? pair.status;
    return true;
  };
  const forward = (from: Socket, to: Socket, mayPass: (chunk: Buffer) => boolean) => {
    const queue: { readonly chunk: Buffer; due: number }[] = [];
    let timer: NodeJS.Timeout | undefined;
    const flush = () => {
      timer = undefined;
      while (queue[0] !== undefined && queue[0].due <= performance.now()) {
        const { chunk } = queue.shift() as { chunk: Buffer };
        if (to.writable) to.write(chunk);
      }
      if (queue[0] !== undefined) timer = setTimeout(flush, Math.max(1, queue[0].due - performance.now()));
    };
    from.on("data", (chunk: Buffer) => {
      if (!mayPass(chunk)) return;
      const now = performance.now();
      if (bytesPerMs !== undefined) {
        const piece = Math.min(MOST_PIECE_BYTES, Math.max(20, Math.round(LEAST_PIECE_MS * bytesPerMs)));
        const from = Math.max(now, queue.at(-1)?.due ?? 0);
        for (let at = 0, n = 1; at < chunk.length; at += piece, n++) {
          queue.push({ chunk: chunk.subarray(at, at + piece), due: from + (n * piece) / bytesPerMs });
        }
      } else queue.push({ chunk, due: delayMs === 0 && queue.length === 0 ? 0 : now + delayMs });
      if (timer === undefined) flush();
    });
    const arrive = () => {
      for (const piece of queue) piece.due = 0;
      clearTimeout(timer);
      flush();
    };
    hurry.add(arrive);
    from.on("close", () => {
      hurry.delete(arrive);
      clearTimeout(timer);
      to.destroy();
    });
    from.on("error", () => to.destroy());
  };

  const server = createServer((client) => {
    if (isCut) {
      client.resetAndDestroy();
      return;
    }
    const { host, port } = target();
    const pair: Pair = { client, server: connect(port, host), status: "?", awaitsLoss: undefined };
    client.setNoDelay(true);
    pair.server.setNoDelay(true);
    pairs.add(pair);
    pair.client.on("close", () => pairs.delete(pair));
    forward(pair.client, pair.server, (chunk) => beforeForward(pair, chunk));
    forward(pair.server, pair.client, (chunk) => beforeAnswer(pair, chunk));
    if (swallows) {
      pair.client.pause();
      pair.server.pause();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the link has no port");
  return {
    port: address.port,
    get connections() {
      return pairs.size;
    },
    cut: () => {
      isCut = true;
      for (const pair of pairs) reset(pair);
    },
    swallow: () => {
      swallows = true;
      for (const pair of pairs) {
        pair.client.pause();
        pair.server.pause();
      }
    },
    slow: (ms) => {
      delayMs = ms;
    },
    trickle: (bytesPerSecond) => {
      bytesPerMs = bytesPerSecond / 1_000;
    },
    heal: () => {
      isCut = false;
      delayMs = 0;
      bytesPerMs = undefined;
      for (const arrive of hurry) arrive();
      waiting?.done();
      waiting = undefined;
      if (!swallows) return;
      swallows = false;
      for (const pair of pairs) {
        pair.client.resume();
        pair.server.resume();
      }
    },
    breakNextCommit: (when) => new Promise((done) => (waiting = { when, done })),
    close: async () => {
      for (const pair of pairs) reset(pair);
      server.close();
      await once(server, "close");
    },
  };
}

const COMMIT = Buffer.from("commit\0");
const BEGIN = Buffer.from("begin");
const SYNC = Buffer.from([0x53, 0, 0, 0, 4]);
const READY = Buffer.from([0x5a, 0, 0, 0, 5]);

/** A COMMIT, or a statement outside of a transaction, which commits by itself. */
const commits = (pair: Pair, chunk: Buffer): boolean =>
  chunk.includes(COMMIT) || (pair.status === "I" && chunk.includes(SYNC) && !chunk.includes(BEGIN));

function statusIn(chunk: Buffer): string | undefined {
  const at = chunk.lastIndexOf(READY);
  return at < 0 || at + READY.length >= chunk.length
    ? undefined
    : String.fromCharCode(chunk[at + READY.length] as number);
}
