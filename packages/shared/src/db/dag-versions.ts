// DAG versions by id, read once and kept: a version never changes. Bounded, least recently used first out.
// While an installation is upgraded there may be versions that only newer processes understand. Whoever does not leaves
// everything that belongs to them as it is.
import { SPEC_FORMAT, type DagSpec } from "@millrace/sdk/spec";
import { messageOf } from "../errors/index.ts";
import { buildDagGraph, DEFAULT_MAX_MAP_LENGTH, type DagGraph } from "../model/index.ts";
import { defineStatement } from "./statement.ts";
import type { Queryable } from "./database.ts";

const readVersions = defineStatement<
  readonly [ids: readonly string[]],
  { readonly id: string; readonly data: DagSpec }
>({
  name: "read-versions",
  sql: `select dag_version_id as id, data from serialized_dag where dag_version_id = any ($1::uuid[])`,
});

export class DagVersions {
  readonly #db: Queryable;
  readonly #max: number;
  readonly #maxMapLength: number;
  readonly #kept = new Map<string, DagGraph>();
  readonly #unreadable = new Map<string, string>();
  readonly #newer = new Set<string>();
  readonly #said = new Set<string>();

  /** @param maxMapLength core.max_map_length: asked for by whoever decides of mapped tasks, or explains that */
  constructor(db: Queryable, max = 5_000, maxMapLength = DEFAULT_MAX_MAP_LENGTH) {
    this.#db = db;
    this.#maxMapLength = maxMapLength;
    this.#max = max;
  }

  /**
   * Every version that exists among `ids` and can be read: one that cannot harms its own runs only.
   * @param on the caller's transaction, where there is one: it holds a connection, and must not wait for a second one
   */
  async load(ids: Iterable<string>, on: Queryable = this.#db): Promise<ReadonlyMap<string, DagGraph>> {
    const wanted = [...new Set(ids)];
    const missing = wanted.filter((id) => !this.#kept.has(id) && !this.#unreadable.has(id));
    if (missing.length > 0) {
      for (const row of await on.run(readVersions, [missing])) this.#read(row);
    }
    const found = new Map<string, DagGraph>();
    for (const id of wanted) {
      const graph = this.#kept.get(id);
      if (graph === undefined) continue;
      this.#kept.delete(id);
      this.#kept.set(id, graph);
      found.set(id, graph);
    }
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= this.#max) break;
      this.#kept.delete(oldest);
    }
    return found;
  }

  /** Why a version is not among those that were loaded. */
  whyNot(id: string): string {
    return this.#unreadable.get(id) ?? "it is gone";
  }

  /** Whether nobody has been told yet that this version cannot be used: each look at its runs would say so again. */
  isNewToSay(id: string): boolean {
    if (this.#said.has(id)) return false;
    this.#said.add(id);
    return true;
  }

  /** Whether a version that is not among those that were loaded is one that a newer Millrace understands. */
  isNewer(id: string): boolean {
    return this.#newer.has(id);
  }

  #read({ id, data }: { readonly id: string; readonly data: DagSpec }): void {
    const format = data.format ?? 1;
    if (format > SPEC_FORMAT) {
      this.#newer.add(id);
      const why = `it was written by a newer Millrace (format ${format}, this process knows ${SPEC_FORMAT}): upgrade this process`;
      this.#unreadable.set(id, why);
      return;
    }
    try {
      this.#kept.set(id, buildDagGraph(data, this.#maxMapLength));
    } catch (error) {
      this.#unreadable.set(id, messageOf(error));
    }
  }
}
