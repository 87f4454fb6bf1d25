import type { Logger } from "../observability/index.ts";
import type { Broker } from "./broker.ts";
import { openPostgresBroker } from "./postgres-broker.ts";
import { openRedisBroker } from "./redis-broker.ts";

export { announce, type Announced, type Announcing } from "./announce.ts";
export type { AttemptMessage, Broker, ConsumeOptions, Consumer, Wake } from "./broker.ts";

export interface OpenBrokerOptions {
  /** `redis://…`, `rediss://…`, or `postgres` for the database itself. */
  readonly url: string;
  readonly prefix: string;
  readonly databaseUrl: string;
  readonly log: Logger;
}

export const openBroker = (options: OpenBrokerOptions): Broker =>
  options.url === "postgres" ? openPostgresBroker(options) : openRedisBroker(options);
export { openRedisSource, type RedisMessage, type RedisSource } from "./redis-source.ts";
