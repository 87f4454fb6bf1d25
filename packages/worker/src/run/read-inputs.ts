// The named arguments of a handler: literals, results of upstream tasks or a field of them, and what the index of a mapped
// task stands for. Batched over attempts. The result of a task that was skipped, or returned nothing, is absent; that of a
// mapped task is the list of those that its instances returned, in the order of their indexes.
import { fieldAt } from "@millrace/sdk/runtime";
import { fieldsOf, type InputSpec, type Json } from "@millrace/sdk/spec";
import {
  readMappedIndexes,
  readMappedXComsAfter,
  readXComs,
  type ClaimedAttempt,
  type Database,
} from "@millrace/shared/db";
import { Batcher } from "@millrace/shared/lifecycle";
import { argumentsAt, type DagGraph, type TaskNode } from "@millrace/shared/model";
import { MappedLists } from "./mapped-lists.ts";
import { bytesOf, type XComs } from "@millrace/shared/xcoms";

interface Key {
  readonly dagId: string;
  readonly runId: string;
  readonly taskId: string;
  readonly mapIndex: number;
}

export interface ResolvedInputs {
  readonly inputs: Record<string, Json>;
  /** Lists of mapped tasks that the handler reads in pages. */
  readonly lazyInputs: Readonly<Record<string, { readonly taskId: string; readonly length: number }>>;
}

/** All values of a mapped task, where nobody asked for them in pages. */
const MAX_LIST_BYTES = 64 * 1024 * 1024;
const PAGE = 1_000;

export class Inputs {
  readonly #db: Database;
  /** What the rows hold: values, or references to them. */
  readonly #reads: Batcher<Key, unknown>;
  readonly #lists: MappedLists;
  readonly #xcoms: XComs;

  constructor(db: Database, xcoms: XComs) {
    this.#db = db;
    this.#xcoms = xcoms;
    this.#reads = new Batcher({
      maxItems: 500,
      flush: async (keys) => {
        const rows = await db.run(readXComs, [
          keys.map((key) => key.dagId),
          keys.map((key) => key.runId),
          keys.map((key) => key.taskId),
          keys.map((key) => key.mapIndex),
          keys.map(() => "return_value"),
        ]);
        const values = new Map(rows.map((row) => [row.ordinal, row.value]));
        return keys.map((_key, i) => values.get(i + 1));
      },
    });
    this.#lists = new MappedLists(db, xcoms, async (key) => await this.#one(key));
  }

  /** @throws NoElement when what the attempt is mapped over has nothing for its index */
  async of(attempt: ClaimedAttempt, node: TaskNode, graph: DagGraph): Promise<ResolvedInputs> {
    const { spec, mapping } = node;
    // Only an instance of a mapped task has an element, and only what is given to it in this version of the DAG.
    const element =
      mapping === undefined ? {} : await argumentsAt(mapping, attempt.mapIndex, this.#lists.of(attempt, graph));
    const lazyInputs: Record<string, { taskId: string; length: number }> = {};
    const entries = await Promise.all(
      Object.entries(spec.inputs).map(async ([name, input]) => {
        if (input.kind === "xcom" && input.lazy === true) {
          const [row] = await this.#db.run(readMappedIndexes, [attempt.dagId, attempt.runId, input.taskId]);
          lazyInputs[name] = { taskId: input.taskId, length: row?.mapIndexes.length ?? 0 };
          return [name, undefined] as const;
        }
        return [name, await this.#value(attempt, input, node, graph, element)] as const;
      }),
    );
    const fixed = Object.fromEntries(entries.filter((entry): entry is [string, Json] => entry[1] !== undefined));
    if (spec.mapping === undefined) return { inputs: fixed, lazyInputs };
    const own = fieldsOf(element) ?? {};
    if (spec.mapping.kind === "expandKwargs" && spec.mapping.strict) refuseDoubles(spec.inputs, own);
    return { inputs: { ...fixed, ...own }, lazyInputs };
  }

  async #value(
    attempt: ClaimedAttempt,
    input: InputSpec,
    node: TaskNode,
    graph: DagGraph,
    element: Readonly<Record<string, Json>>,
  ): Promise<Json | undefined> {
    if (input.kind === "literal") return input.value;
    if (input.kind === "element") return fieldAt(element, input.path);
    const { dagId, runId } = attempt;
    const source = graph.tasks.get(input.taskId);
    const isMapped = source?.mapping !== undefined;
    const isOfSameIndex = source?.mapGroup !== undefined && source.mapGroup === node.mapGroup;
    const value =
      isMapped && !isOfSameIndex
        ? await this.#all(attempt, input.taskId)
        : await this.#one({ dagId, runId, taskId: input.taskId, mapIndex: isMapped ? attempt.mapIndex : -1 });
    return fieldAt(value, input.path);
  }

  /** Apart from the batch: a store that fails for one attempt's value fails no other's. */
  async #one(key: Key): Promise<Json | undefined> {
    const held = await this.#reads.add(key);
    return held === undefined ? undefined : await this.#xcoms.resolve(held);
  }

  async #all({ dagId, runId }: ClaimedAttempt, taskId: string): Promise<Json[]> {
    const all: Json[] = [];
    for (let [bytes, after] = [0, -1]; ;) {
      const page = await this.#db.run(readMappedXComsAfter, [dagId, runId, taskId, after, PAGE]);
      bytes += page.reduce((sum, { value }) => sum + bytesOf(value), 0);
      if (bytes > MAX_LIST_BYTES) {
        throw new Error(`the values of ${taskId} take more than ${MAX_LIST_BYTES} bytes: take them with lazy()`);
      }
      all.push(...(await this.#xcoms.resolveAll(page.map(({ value }) => value))));
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return all;
      after = last.mapIndex;
    }
  }
}

function refuseDoubles(inputs: Readonly<Record<string, InputSpec>>, element: Readonly<Record<string, Json>>): void {
  const twice = Object.keys(element).find((name) => Object.hasOwn(inputs, name));
  if (twice === undefined) return;
  throw new Error(
    `"${twice}" is in partial(…) and in what the task is mapped over: expandKwargs(…, { strict: false }) lets the latter win`,
  );
}
