// Events of assets in a handler: those that its run is made of, and those that its success will be.
import { Asset, AssetAlias, AssetRef, type AssetUse } from "../assets/asset.ts";
import type { Json } from "../spec/index.ts";
import { encodeJson } from "../values/encode-json.ts";
import type { AssetEventData, AssetQuery, OutletEvent } from "./protocol.ts";

/** Something that happened to an asset. */
export interface AssetEvent {
  readonly id: number;
  readonly asset: { readonly name: string; readonly uri: string; readonly group: string };
  readonly timestamp: Date;
  readonly extra: Readonly<Record<string, Json>>;
  /** The task instance whose success it was; `null` for one that came from outside. */
  readonly source: {
    readonly dagId: string;
    readonly taskId: string;
    readonly runId: string;
    readonly mapIndex: number;
  } | null;
  readonly partitionKey: string | null;
  /** The aliases through which it came. */
  readonly aliases: readonly string[];
}

/** Events, oldest first. */
export interface AssetEvents {
  readonly all: readonly AssetEvent[];
  /** Those of one asset, or those that came through an alias. */
  for(which: AssetUse): readonly AssetEvent[];
}

/** What the success of the running task says of one of its outlets. To be changed in place. */
export interface OutletEventDraft {
  /** Data about this update, JSON-safe: `outletEvents.for(orders).extra["rows"] = 12`. */
  extra: Record<string, Json>;
  /** One event for each key, 1 to 250 characters. @default the key of the run, if it has one */
  partitionKeys: string[];
}

/** What the success of the running task says of an alias. */
export interface AliasEventDraft {
  /** This asset was updated, whether or not anybody declares it. Can be called for several. */
  add(asset: Asset, event?: { readonly extra?: Readonly<Record<string, Json>>; readonly partitionKey?: string }): void;
}

/**
 * The events that the success of the running task will be. What is said here counts in the process in which the task
 * succeeds, and is gone after a failure, a deferral or a reschedule. Airflow's `outlet_events`.
 */
export interface OutletEvents {
  /** @throws TypeError when it is not among the task's `outlets` */
  for(asset: Asset | AssetRef): OutletEventDraft;
  for(alias: AssetAlias): AliasEventDraft;
}

const MAX_KEY = 250;

/** Collects what a handler says of its outlets. */
export class OutletCollector implements OutletEvents {
  readonly #taskId: string;
  readonly #uses: readonly AssetUse[];
  readonly #maxBytes: number | undefined;
  readonly #drafts = new Map<string, OutletEventDraft>();
  readonly #added: OutletEvent[] = [];

  constructor(taskId: string, uses: readonly AssetUse[], maxBytes: number | undefined) {
    this.#taskId = taskId;
    this.#uses = uses;
    this.#maxBytes = maxBytes;
  }

  for(asset: Asset | AssetRef): OutletEventDraft;
  for(alias: AssetAlias): AliasEventDraft;
  for(use: AssetUse): AliasEventDraft | OutletEventDraft {
    const key = keyOf(use);
    if (!this.#uses.some((outlet) => keyOf(outlet) === key)) {
      throw new TypeError(`outletEvents.for(…): ${key} is not among the outlets of task "${this.#taskId}"`);
    }
    if (use instanceof AssetAlias) return { add: (asset, event) => this.#add(use, asset, event ?? {}) };
    return this.#draftOf(key);
  }

  /** @throws what cannot be stored, which fails the task. */
  events(): OutletEvent[] {
    const own = this.#uses.flatMap((use): OutletEvent[] => {
      if (use instanceof AssetAlias) return [];
      const { extra, partitionKeys } = this.#drafts.get(keyOf(use)) ?? { extra: {}, partitionKeys: [] };
      const event = { asset: specOf(use), extra: this.#encode(keyOf(use), extra) };
      return partitionKeys.length === 0
        ? [event]
        : [...new Set(partitionKeys)].map((key) => ({ ...event, partitionKey: checkedKey(key) }));
    });
    return [...own, ...this.#added];
  }

  #draftOf(key: string): OutletEventDraft {
    const draft = this.#drafts.get(key) ?? { extra: {}, partitionKeys: [] };
    this.#drafts.set(key, draft);
    return draft;
  }

  #add(
    alias: AssetAlias,
    asset: Asset,
    { extra = {}, partitionKey }: { readonly extra?: Readonly<Record<string, Json>>; readonly partitionKey?: string },
  ): void {
    if (!(asset instanceof Asset)) throw new TypeError(`outletEvents.for(${keyOf(alias)}).add(…) takes an Asset`);
    const [problem] = asset.problems;
    if (problem !== undefined) throw new TypeError(`asset "${asset.name}": ${problem}`);
    this.#added.push({
      asset: specOf(asset),
      alias: alias.name,
      extra: this.#encode(keyOf(asset), extra),
      ...(partitionKey === undefined ? {} : { partitionKey: checkedKey(partitionKey) }),
    });
  }

  #encode(key: string, extra: Readonly<Record<string, Json>>): Readonly<Record<string, Json>> {
    try {
      const encoded = encodeJson(extra, this.#maxBytes);
      if (isObject(encoded)) return encoded;
    } catch (error) {
      throw new TypeError(`the extra of ${key}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
    throw new TypeError(`the extra of ${key} must be an object`);
  }
}

const isObject = (value: Json): value is Readonly<Record<string, Json>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function checkedKey(key: unknown): string {
  if (typeof key === "string" && key.trim() !== "" && key.length <= MAX_KEY) return key;
  throw new RangeError(`a partition key is a string of 1 to ${MAX_KEY} characters`);
}

function keyOf(use: AssetUse): string {
  if (use instanceof AssetAlias) return `alias "${use.name}"`;
  if (use instanceof AssetRef)
    return use.uri === undefined ? `the asset named "${use.name}"` : `the asset at "${use.uri}"`;
  return `asset "${use.name}" (${use.uri})`;
}

function specOf(use: Asset | AssetRef): OutletEvent["asset"] {
  if (use instanceof Asset) {
    const { name, uri, group, extra } = use;
    return { name, uri, group, ...(Object.keys(extra).length === 0 ? {} : { extra }) };
  }
  return use.uri === undefined ? { name: use.name ?? "" } : { uri: use.uri };
}

export function queryOf(use: AssetUse): AssetQuery {
  if (use instanceof AssetAlias) return { alias: use.name };
  if (use instanceof Asset) return { name: use.name, uri: use.uri };
  return use.uri === undefined ? { name: use.name ?? "" } : { uri: use.uri };
}

export function eventsOf(data: readonly AssetEventData[]): AssetEvents {
  const all = data.map(eventOf);
  return Object.freeze({
    all,
    for: (use: AssetUse) => {
      const { name, uri, alias } = queryOf(use);
      return all.filter(
        (event) =>
          (name === undefined || event.asset.name === name) &&
          (uri === undefined || event.asset.uri === uri) &&
          (alias === undefined || event.aliases.includes(alias)),
      );
    },
  });
}

export function eventOf(data: AssetEventData): AssetEvent {
  const { id, name, uri, group, timestamp, extra, partitionKey, aliases } = data;
  const { sourceDagId: dagId, sourceTaskId: taskId, sourceRunId: runId, sourceMapIndex: mapIndex } = data;
  return {
    ...{ id, extra, partitionKey, aliases },
    asset: { name, uri, group },
    timestamp: new Date(timestamp),
    source: dagId === null || taskId === null || runId === null ? null : { dagId, taskId, runId, mapIndex },
  };
}
