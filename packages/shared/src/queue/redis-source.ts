// A Redis of the user's that something listens to: channels, and streams from a given entry on. One connection for all
// channels and one for all streams. Streams lose nothing while the connection is away; a channel keeps nothing for those who
// are not there.
import type { ConnectionValue } from "@millrace/sdk/runtime";
import { Redis } from "ioredis";
import { messageOf } from "../errors/index.ts";

export interface RedisMessage {
  /** Of a stream's entry. */
  readonly id?: string;
  /** A channel's message as text; a stream's entry as its fields. */
  readonly message: string | Readonly<Record<string, string>>;
}

export interface RedisSource {
  /** Gives what takes the listener away. */
  onMessage(channel: string, listener: (message: RedisMessage) => void): () => void;
  /** Gives the first entry after `lastId` once, or says that there is no such stream to read. */
  onEntry(
    stream: string,
    lastId: string,
    listener: (message: RedisMessage) => void,
    refused: (message: string) => void,
  ): () => void;
  close(): void;
}

interface EntryWait {
  readonly stream: string;
  readonly lastId: string;
  readonly listener: (message: RedisMessage) => void;
  readonly refused: (message: string) => void;
}

const BLOCK_MS = 200;
const STREAMS_AT_ONCE = 500;
const AFTER_TROUBLE_MS = 1_000;

/** @param onTrouble told when the connection is lost or a command refused */
export function openRedisSource(connection: ConnectionValue, onTrouble: (message: string) => void): RedisSource {
  const { host = "localhost", port = 6379, login, password, schema, connType, extra = {} } = connection;
  const db = Number(schema ?? extra["db"] ?? 0);
  const connect = (): Redis => {
    const redis = new Redis({
      host,
      port,
      db: Number.isInteger(db) ? db : 0,
      ...(login === undefined ? {} : { username: login }),
      ...(password === undefined ? {} : { password }),
      ...(connType === "rediss" || extra["ssl"] === true ? { tls: {} } : {}),
      maxRetriesPerRequest: null,
      connectTimeout: 5_000,
      keepAlive: 5_000,
      retryStrategy: (times) => Math.min(100 * 2 ** Math.min(times, 7), 10_000),
    });
    redis.on("error", (error: unknown) => onTrouble(messageOf(error)));
    return redis;
  };
  let isClosed = false;
  let subscriber: Redis | undefined;
  const channels = new Map<string, Set<(message: RedisMessage) => void>>();
  const entries = new Set<EntryWait>();
  let reader: Redis | undefined;

  const subscribe = (): Redis => {
    if (subscriber !== undefined) return subscriber;
    subscriber = connect();
    subscriber.on("message", (channel: string, message: string) => {
      for (const listener of channels.get(channel) ?? []) listener({ message });
    });
    return subscriber;
  };

  /** Reads while there is something to read for; a wait that comes meanwhile is in the next round. */
  const read = async (redis: Redis): Promise<void> => {
    while (entries.size > 0 && !isClosed) {
      try {
        await readOnce(redis, [...entries].slice(0, STREAMS_AT_ONCE));
      } catch (error) {
        if (isClosed) break;
        onTrouble(messageOf(error));
        await new Promise((resolve) => setTimeout(resolve, AFTER_TROUBLE_MS));
      }
    }
    redis.disconnect();
  };

  const readOnce = async (redis: Redis, waits: readonly EntryWait[]): Promise<void> => {
    const isPartial = entries.size > waits.length;
    // Waits that this round does not ask for go first in the next one.
    for (const wait of isPartial ? waits : []) if (entries.delete(wait)) entries.add(wait);
    // A stream is asked once, for the earliest of those who wait at it: the entry that comes is the first for everybody
    // whose own last one is before it, and the others are still waiting.
    const from = new Map<string, string>();
    for (const { stream, lastId } of waits) {
      const earliest = from.get(stream);
      if (earliest === undefined || isAfter(earliest, lastId)) from.set(stream, lastId);
    }
    const ask = (streams: ReadonlyMap<string, string>, blockMs: number) =>
      redis.xread("COUNT", 1, "BLOCK", blockMs, "STREAMS", ...streams.keys(), ...streams.values());
    const take = (found: Awaited<ReturnType<typeof ask>>) => {
      for (const [stream, [item]] of found ?? []) {
        if (item === undefined) continue;
        const [id, fields] = item;
        for (const wait of waits) {
          if (wait.stream !== stream || !isAfter(id, wait.lastId) || !entries.delete(wait)) continue;
          wait.listener({ id, message: toRecord(fields) });
        }
      }
    };
    try {
      take(await ask(from, isPartial ? 1 : BLOCK_MS));
    } catch (error) {
      if (!isRefusal(error)) throw error;
      // One of the keys is no stream: the others must not wait for it.
      for (const [stream, lastId] of from) {
        try {
          take(await ask(new Map([[stream, lastId]]), 1));
        } catch (cause) {
          if (!isRefusal(cause)) throw cause;
          for (const wait of waits) {
            if (wait.stream === stream && entries.delete(wait)) wait.refused(messageOf(cause));
          }
        }
      }
    }
  };

  return {
    onMessage: (channel, listener) => {
      let listeners = channels.get(channel);
      if (listeners === undefined) {
        channels.set(channel, (listeners = new Set()));
        subscribe()
          .subscribe(channel)
          .catch((error: unknown) => onTrouble(messageOf(error)));
      }
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0 || channels.get(channel) !== listeners) return;
        channels.delete(channel);
        subscriber?.unsubscribe(channel).catch(() => undefined);
      };
    },
    onEntry: (stream, lastId, listener, refused) => {
      const wait = { stream, lastId, listener, refused };
      entries.add(wait);
      if (reader === undefined) {
        const redis = connect();
        reader = redis;
        void read(redis).finally(() => {
          if (reader === redis) reader = undefined;
        });
      }
      return () => entries.delete(wait);
    },
    close: () => {
      isClosed = true;
      channels.clear();
      entries.clear();
      subscriber?.disconnect();
      reader?.disconnect();
    },
  };
}

const toRecord = (fields: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    fields.flatMap((name, at): [string, string][] => (at % 2 === 0 ? [[name, fields[at + 1] ?? ""]] : [])),
  );

/** Redis answered, and the answer was no. */
const isRefusal = (error: unknown): boolean => error instanceof Error && error.name === "ReplyError";

function isAfter(id: string, lastId: string): boolean {
  const parts = (text: string) => text.split("-").map((part) => BigInt(/^\d+$/.test(part) ? part : 0));
  const [[ms = 0n, n = 0n], [lastMs = 0n, lastN = 0n]] = [parts(id), parts(lastId)];
  return ms === lastMs ? n > lastN : ms > lastMs;
}
