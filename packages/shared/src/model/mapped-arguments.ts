// What one instance of a mapped task is given of the lists over which it is mapped. Pure but for the reading of lists.
import { fieldsOf, type Json, type MappingSpec, type MapSource } from "@millrace/sdk/spec";
import type { MappedOver } from "./mapping.ts";

/** A list that is there. Not all of it needs to be in memory. */
export interface List {
  readonly length: number;
  at(index: number): Json | undefined | Promise<Json | undefined>;
}

export type OpenList = (part: MappedOver) => Promise<List>;

/** There is no element for the index, or it is no object of arguments. */
export class NoElement extends Error {
  override readonly name: string = "NoElement";
}

/**
 * An encoded object: `fieldsOf` gives the arguments by name. In a cross product the last argument varies fastest.
 * @throws NoElement
 */
export async function argumentsAt(
  mapping: MappingSpec,
  index: number,
  open: OpenList,
): Promise<Readonly<Record<string, Json>>> {
  if (mapping.kind === "expandKwargs") {
    const element = await elementAt(await listOf(mapping.source, open), index, "the list");
    if (fieldsOf(element) !== undefined) return element as Readonly<Record<string, Json>>; // an object, as just seen
    throw new NoElement(
      `element ${index} of the list is no object of arguments, got ${JSON.stringify(element).slice(0, 200)}`,
    );
  }
  const lists = await Promise.all(
    mapping.lists.map(async ({ name, source }) => ({ name, list: await listOf(source, open) })),
  );
  const found: [string, Json][] = [];
  let rest = index;
  for (const { name, list } of lists.toReversed()) {
    found.unshift([name, await elementAt(list, list.length === 0 ? rest : rest % list.length, `the list of ${name}`)]);
    rest = Math.floor(rest / list.length);
  }
  if (rest > 0) throw new NoElement(`there is no element ${index}: the lists have become shorter`);
  return Object.fromEntries(found);
}

async function elementAt(list: List, index: number, what: string): Promise<Json> {
  const element = await list.at(index);
  if (element !== undefined) return element;
  throw new NoElement(`there is no element ${index} of ${what}, which has ${list.length}`);
}

async function listOf(source: MapSource, open: OpenList): Promise<List> {
  if (source.kind === "literal") return { length: source.values.length, at: (index) => source.values[index] };
  if (source.kind === "xcom") return await open(source);
  const lists = await Promise.all(source.sources.map(async (inner) => await listOf(inner, open)));
  const lengths = lists.map(({ length }) => length);
  if (source.kind === "concat") {
    return {
      length: lengths.reduce((sum, length) => sum + length, 0),
      at: async (index) => {
        let rest = index;
        for (const list of lists) {
          if (rest < list.length) return await list.at(rest);
          rest -= list.length;
        }
        return undefined;
      },
    };
  }
  const { fill } = source;
  const length = fill === undefined ? Math.min(...lengths) : Math.max(...lengths);
  return {
    length,
    at: async (index) => {
      if (index >= length) return undefined;
      return await Promise.all(lists.map(async (list) => (index < list.length ? await list.at(index) : fill) ?? null));
    },
  };
}

/** A list that is in memory. */
export const listIn = (values: readonly Json[]): List => ({ length: values.length, at: (index) => values[index] });
