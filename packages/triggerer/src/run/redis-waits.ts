// `millrace.redis`: waits for a message of a channel, or for an entry of a stream. Pushed by Redis, so nothing is looked at
// again and again; one pair of connections for each Redis. A stream's entries count from `lastId`, or from the moment at
// which the wait began, so that none is missed while no triggerer lives; a channel's messages are missed then.
import type { ConnectionValue } from "@millrace/sdk/runtime";
import { messageOf } from "@millrace/shared/errors";
import { openRedisSource, type RedisMessage, type RedisSource } from "@millrace/shared/queue";
import type { Secrets } from "@millrace/shared/secrets";
import { connectionOf } from "./connection.ts";
import { Kwargs } from "./read-kwargs.ts";
import { failed, GiveUp, type Fired, type LoadedTrigger, type Runner } from "./trigger.ts";

interface Held {
  readonly connectionKey: string;
  readonly forget: () => void;
}

interface Source {
  readonly source: RedisSource;
  readonly waits: Set<number>;
}

export interface RedisWaitsDeps {
  readonly secrets: Secrets;
  readonly fire: (fired: readonly Fired[]) => Promise<void>;
  readonly onTrouble: (triggerId: number, message: string) => void;
}

export class RedisWaits implements Runner {
  readonly #deps: RedisWaitsDeps;
  /** Undefined while its connection is looked up. */
  readonly #held = new Map<number, Held | undefined>();
  readonly #sources = new Map<string, Source>();

  constructor(deps: RedisWaitsDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#held.size;
  }

  ids(): Iterable<number> {
    return this.#held.keys();
  }

  add(triggers: readonly LoadedTrigger[]): void {
    for (const trigger of triggers) {
      if (this.#held.has(trigger.id)) continue;
      this.#held.set(trigger.id, undefined);
      this.#listen(trigger).catch((error: unknown) => {
        const name = error instanceof GiveUp ? error.name : "TriggerArguments";
        this.#end(trigger.id, { triggerId: trigger.id, outcome: failed(name, messageOf(error)) });
      });
    }
  }

  drop(ids: readonly number[]): void {
    for (const id of ids) this.#forget(id);
  }

  stop(): Promise<void> {
    this.drop([...this.#held.keys()]);
    return Promise.resolve();
  }

  async #listen({ id, name, kwargs, createdMs }: LoadedTrigger): Promise<void> {
    const read = new Kwargs(name, kwargs);
    const [channel, stream] = [read.textIfGiven("channel"), read.textIfGiven("stream")];
    if ((channel === undefined) === (stream === undefined)) read.wrong("channel", "a string, or `stream` one");
    const asked = read.textIfGiven("lastId") ?? "$";
    const lastId = asked === "$" ? `${Math.floor(createdMs)}-0` : asked;
    if (!/^\d+(-\d+)?$/.test(lastId)) read.wrong("lastId", "the id of an entry, as 1718000000000-0");
    const connection = await connectionOf(this.#deps.secrets, read.text("connectionId"));
    if (!["redis", "rediss", "valkey"].includes(connection.connType)) {
      throw new GiveUp(
        "ConnectionNotSupported",
        `connection ${connection.connectionId} is ${connection.connType}, not redis`,
      );
    }
    // It may have been dropped meanwhile.
    if (!this.#held.has(id)) return;
    const { key, source } = this.#sourceOf(connection, id);
    const onMessage = ({ id: entryId, message }: RedisMessage) => {
      const payload = {
        ...(stream === undefined ? { channel: channel ?? "" } : { stream, id: entryId ?? "" }),
        message,
      };
      this.#end(id, { triggerId: id, outcome: { kind: "event", payload } });
    };
    const onRefused = (message: string) =>
      this.#end(id, { triggerId: id, outcome: failed("RedisRefused", `stream ${stream} cannot be read: ${message}`) });
    const forget =
      stream === undefined
        ? source.onMessage(channel ?? "", onMessage)
        : source.onEntry(stream, lastId, onMessage, onRefused);
    this.#held.set(id, { connectionKey: key, forget });
  }

  #end(id: number, fired: Fired): void {
    if (this.#forget(id)) void this.#deps.fire([fired]);
  }

  #forget(id: number): boolean {
    const held = this.#held.get(id);
    if (!this.#held.delete(id)) return false;
    if (held === undefined) return true;
    held.forget();
    const source = this.#sources.get(held.connectionKey);
    source?.waits.delete(id);
    if (source?.waits.size === 0) {
      this.#sources.delete(held.connectionKey);
      source.source.close();
    }
    return true;
  }

  /** A connection whose values changed is another one. */
  #sourceOf(connection: ConnectionValue, id: number): { readonly key: string; readonly source: RedisSource } {
    const key = JSON.stringify(connection);
    let source = this.#sources.get(key);
    if (source === undefined) {
      const waits = new Set<number>();
      let last = "";
      source = {
        waits,
        source: openRedisSource(connection, (message) => {
          if (message === last) return;
          last = message;
          for (const wait of waits) this.#deps.onTrouble(wait, message);
        }),
      };
      this.#sources.set(key, source);
    }
    source.waits.add(id);
    return { key, source: source.source };
  }
}
