// What handlers ask about assets.
import type { AssetEventData, AssetEventsQuery, AssetQuery } from "@millrace/sdk/runtime";
import type { Json, TaskSpec } from "@millrace/sdk/spec";
import type { Database } from "../database.ts";
import { AppError } from "../../errors/index.ts";
import { eventsOfRun, newestEvents, oldestEvents, type CountedAssetEvent } from "../statements/asset-events-of-runs.ts";
import * as states from "../statements/asset-states.ts";
import { readInactiveAssets } from "../statements/dag-activate-assets.ts";

/** Of the extras of events together: they are whole in the memory of the worker and of the handler's process. */
const MAX_EXTRAS_BYTES = 64 * 1024 * 1024;

/** The events that a run is made of, oldest first. @throws AppError ASSET_EVENTS_TOO_LARGE */
export const readRunEvents = async (db: Database, dagRunId: number): Promise<AssetEventData[]> =>
  bounded(
    await db.run(eventsOfRun, [MAX_EXTRAS_BYTES, dagRunId]),
    "that the run is made of",
    "Let tasks write less into them, and keep the data elsewhere",
  );

/** @throws AppError ASSET_EVENTS_TOO_LARGE */
export async function readEventsFor(db: Database, query: AssetEventsQuery): Promise<AssetEventData[]> {
  const { name = null, uri = null, alias = null, after = null, before = null, limit = 100, ascending = true } = query;
  const asked = [MAX_EXTRAS_BYTES, name, uri, alias, after, before, limit] as const;
  const rows = await db.run(ascending ? oldestEvents : newestEvents, asked);
  return bounded(rows, "that getAssetEvents asks for", "Ask for fewer at a time, with `limit`");
}

function bounded(rows: readonly CountedAssetEvent[], what: string, instead: string): AssetEventData[] {
  const bytes = rows[0]?.bytes ?? 0;
  if (bytes > MAX_EXTRAS_BYTES) {
    throw new AppError("ASSET_EVENTS_TOO_LARGE", { events: rows.length, what, bytes, max: MAX_EXTRAS_BYTES, instead });
  }
  return rows.map(({ bytes: _counted, ...event }) => event);
}

export async function getAssetState(db: Database, asset: AssetQuery, key: string): Promise<Json | undefined> {
  const [row] = await db.run(states.readAssetState, [asset.name ?? null, asset.uri ?? null, key]);
  if (row === undefined) throw new Error(`there is no asset ${nameOf(asset)}`);
  return row.isSet ? row.value : undefined;
}

export async function setAssetState(db: Database, asset: AssetQuery, key: string, value: Json): Promise<undefined> {
  const [row] = await db.run(states.writeAssetState, [
    asset.name ?? null,
    asset.uri ?? null,
    key,
    JSON.stringify(value),
  ]);
  if (row === undefined) throw new Error(`there is no asset ${nameOf(asset)}`);
  return undefined;
}

export async function deleteAssetState(db: Database, asset: AssetQuery, key: string): Promise<undefined> {
  await db.run(states.deleteAssetState, [asset.name ?? null, asset.uri ?? null, key]);
  return undefined;
}

/**
 * Those of a task's outlets and inlets that it must not use: no DAG declares them, or another asset has their name or uri.
 * A task without assets asks nobody.
 */
export async function inactiveAssets(db: Database, { outlets = [], inlets = [] }: TaskSpec): Promise<string[]> {
  const used = [...outlets, ...inlets].flatMap((use) => ("alias" in use ? [] : ["asset" in use ? use.asset : use.ref]));
  if (used.length === 0) return [];
  const names = used.map((asset) => asset.name ?? null);
  const rows = await db.run(readInactiveAssets, [names, used.map((asset) => asset.uri ?? null)]);
  return rows.map(({ name, uri }) => nameOf({ ...(name === null ? {} : { name }), ...(uri === null ? {} : { uri }) }));
}

const nameOf = ({ name, uri }: AssetQuery): string =>
  name === undefined ? `${uri}` : uri === undefined || uri === name ? name : `${name} (${uri})`;
