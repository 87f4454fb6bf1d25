import { name, type Check } from "../reading/checks.ts";
import type { Json } from "../spec/index.ts";
import { builtIn, oneGiven } from "./built-in.ts";
import type { Trigger } from "./trigger.ts";

/** Where to listen. One of `channel` and `stream` is needed. */
export interface RedisMessageOptions {
  /** A connection to the Redis server. */
  readonly connectionId: string;
  /** A channel of pub/sub: what is said while nobody listens is lost, also while a triggerer is replaced. */
  readonly channel?: string;
  /** A stream: nothing is lost. */
  readonly stream?: string;
  /** Only with `stream`: the entry to begin after. @default "$", what comes after the task began to wait */
  readonly lastId?: string;
}

/** What came. */
export interface RedisMessageEvent {
  readonly channel?: string;
  readonly stream?: string;
  /** The id of the stream's entry. */
  readonly id?: string;
  /** Text for a channel, the entry's fields for a stream. */
  readonly message: Json;
}

const CHECKS: Readonly<Record<keyof RedisMessageOptions, Check>> = {
  connectionId: name(250),
  channel: name(1000),
  stream: name(1000),
  lastId: name(100),
};

/** Fires with the next message of a channel or a stream. */
export function redisMessage(options: RedisMessageOptions): Trigger<RedisMessageEvent> {
  return builtIn(
    "redis",
    options,
    CHECKS,
    () => ({ ...options }),
    () => [
      ...(options.connectionId === undefined ? ["connectionId is missing"] : []),
      ...oneGiven(options, ["channel", "stream"]),
      ...(options.lastId !== undefined && options.stream === undefined ? ["lastId needs a stream"] : []),
    ],
  );
}
