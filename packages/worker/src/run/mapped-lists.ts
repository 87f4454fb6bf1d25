// The lists over which tasks are mapped. Each of thousands of instances takes one element of the same list: a list is read
// once, kept for a while, and asked for again only if it was written since; what is kept is bounded.
import { fieldAt } from "@millrace/sdk/runtime";
import type { Json } from "@millrace/sdk/spec";
import { readMappedIndexes, readXComVersions, type ClaimedAttempt, type Database } from "@millrace/shared/db";
import { Batcher } from "@millrace/shared/lifecycle";
import { listIn, type DagGraph, type List, type OpenList } from "@millrace/shared/model";
import type { XComs } from "@millrace/shared/xcoms";

interface Source {
  readonly dagRunId: number;
  readonly dagId: string;
  readonly runId: string;
  readonly taskId: string;
}

interface Kept {
  readonly version: string;
  readonly value: Json;
  readonly bytes: number;
}

/** One value that the store does not give fails who asked for it, and nobody else of the batch. */
class Unread {
  readonly error: unknown;

  constructor(error: unknown) {
    this.error = error;
  }
}

type ReadOne = (key: Source & { readonly mapIndex: number }) => Promise<Json | undefined>;

const MAX_KEPT_BYTES = 64 * 1024 * 1024;

export class MappedLists {
  readonly #readOne: ReadOne;
  /** By run and task, the least recently used first. */
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;
  readonly #values: Batcher<Source, Json | Unread | undefined>;
  readonly #xcoms: XComs;
  readonly #indexes: Batcher<Source, readonly number[]>;

  /** @param readOne the return value of one task instance */
  constructor(db: Database, xcoms: XComs, readOne: ReadOne) {
    this.#xcoms = xcoms;
    this.#readOne = readOne;
    this.#values = new Batcher({ maxItems: 500, flush: async (sources) => await this.#readValues(db, sources) });
    this.#indexes = new Batcher({ maxItems: 500, flush: async (sources) => await readIndexes(db, sources) });
  }

  of({ dagRunId, dagId, runId }: ClaimedAttempt, graph: DagGraph): OpenList {
    return async ({ taskId, path }) => {
      const source = { dagRunId, dagId, runId, taskId };
      if (graph.tasks.get(taskId)?.mapping !== undefined) return this.#ofMapped(source);
      const whole = await this.#values.add(source);
      if (whole instanceof Unread) throw whole.error;
      const value = fieldAt(whole, path);
      return listIn(Array.isArray(value) ? (value as readonly Json[]) : []);
    };
  }

  async #ofMapped(source: Source): Promise<List> {
    const indexes = await this.#indexes.add(source);
    return {
      length: indexes.length,
      at: async (place) => {
        const mapIndex = indexes[place];
        return mapIndex === undefined ? undefined : await this.#readOne({ ...source, mapIndex });
      },
    };
  }

  async #readValues(db: Database, asked: readonly Source[]): Promise<(Json | Unread | undefined)[]> {
    const sources = new Map(asked.map((source) => [keyOf(source), source]));
    const list = [...sources];
    const rows = await db.run(readXComVersions, [
      list.map(([, source]) => source.dagRunId),
      list.map(([, source]) => source.taskId),
      list.map(([key]) => this.#kept.get(key)?.version ?? null),
    ]);
    const found = new Map<string, Json | Unread>();
    const read = async ({ ordinal, version, value }: (typeof rows)[number]) => {
      const key = list[ordinal - 1]?.[0] ?? "";
      try {
        found.set(key, this.#keep(key, version, await this.#xcoms.resolve(value)));
      } catch (error) {
        found.set(key, new Unread(error));
      }
    };
    await Promise.all(rows.map(read));
    return asked.map((source) => found.get(keyOf(source)));
  }

  #keep(key: string, version: string, read: Json): Json {
    const before = this.#kept.get(key);
    this.#kept.delete(key);
    const isKnown = before?.version === version;
    if (before !== undefined && !isKnown) this.#bytes -= before.bytes;
    const kept = isKnown ? before : { version, value: read, bytes: JSON.stringify(read).length };
    if (!isKnown) this.#bytes += kept.bytes;
    this.#kept.set(key, kept);
    for (const [oldest, { bytes }] of this.#kept) {
      if (this.#bytes <= MAX_KEPT_BYTES || oldest === key) break;
      this.#kept.delete(oldest);
      this.#bytes -= bytes;
    }
    return kept.value;
  }
}

async function readIndexes(db: Database, asked: readonly Source[]): Promise<(readonly number[])[]> {
  const found = new Map<string, readonly number[]>();
  for (const source of asked) {
    const key = keyOf(source);
    if (found.has(key)) continue;
    const [row] = await db.run(readMappedIndexes, [source.dagId, source.runId, source.taskId]);
    found.set(key, row?.mapIndexes ?? []);
  }
  return asked.map((source) => found.get(keyOf(source)) ?? []);
}

const keyOf = ({ dagRunId, taskId }: Source): string => `${dagRunId} ${taskId}`;
