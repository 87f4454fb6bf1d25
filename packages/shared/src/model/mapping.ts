// Into how many instances a mapped task is expanded: what can be said of it from the tasks whose lists it is mapped over.
// Pure. INVARIANT: nothing is said of it, and nothing is decided of the unexpanded task, before all of those have ended.
import type { MappingSpec, MapSource } from "@millrace/sdk/spec";
import type { Cause } from "./cause.ts";
import type { RunView, TaskSnapshot } from "./decide-task.ts";
import { tallyOf } from "./relevant-upstream.ts";
import { isFinished } from "./task-state.ts";

/** A list in the value of a task: how long it is, or that it is something else; null: there is no value. */
export type ListLength = number | { readonly is: string } | null;

/** Part of a task's value over which another is mapped. */
export interface MappedOver {
  readonly taskId: string;
  readonly path: readonly string[];
}

export const listKey = (path: readonly string[]): string => JSON.stringify(path);

export function sourcesOf(mapping: MappingSpec): readonly MapSource[] {
  return mapping.kind === "expand" ? mapping.lists.map(({ source }) => source) : [mapping.source];
}

const parts = new WeakMap<MappingSpec, readonly MappedOver[]>();

/** Each part of a task's value that the mapping reads, once. Kept, because every instance of a task asks. */
export function mappedOver(mapping: MappingSpec): readonly MappedOver[] {
  const known = parts.get(mapping);
  if (known !== undefined) return known;
  const found = new Map<string, MappedOver>();
  const visit = (source: MapSource): void => {
    if (source.kind === "xcom") found.set(`${source.taskId} ${listKey(source.path)}`, source);
    else if (source.kind !== "literal") source.sources.forEach(visit);
  };
  sourcesOf(mapping).forEach(visit);
  parts.set(mapping, [...found.values()]);
  return [...found.values()];
}

export type MapLength =
  | { readonly kind: "length"; readonly length: number }
  /** A list is still to come. */
  | { readonly kind: "open"; readonly cause: Cause }
  /** Some list will never come. */
  | { readonly kind: "never"; readonly to: "skipped" | "upstream_failed" | "failed"; readonly cause: Cause };

/** As far as the run has come. The first list that does not exist decides, in the order in which they were given. */
export function mapLength(mapping: MappingSpec, maxLength: number, view: RunView): MapLength {
  for (const { taskId } of mappedOver(mapping)) {
    const open = tallyOf(view(taskId)).watched.find(({ state }) => !isFinished(state));
    if (open !== undefined) return { kind: "open", cause: { kind: "expansion", taskId, state: open.state } };
  }
  let product = 1;
  for (const source of sourcesOf(mapping)) {
    const length = lengthOf(source, view);
    if (typeof length !== "number") return length;
    product *= length;
  }
  if (product <= maxLength) return { kind: "length", length: product };
  return never("failed", {
    kind: "not_expandable",
    reason: `it would have ${product} instances, more than ${maxLength}: see core.max_map_length`,
  });
}

function lengthOf(source: MapSource, view: RunView): number | Extract<MapLength, { kind: "never" }> {
  switch (source.kind) {
    case "literal":
      return source.values.length;
    case "xcom":
      return lengthOfList(source, view(source.taskId));
    default: {
      const lengths: number[] = [];
      for (const inner of source.sources) {
        const length = lengthOf(inner, view);
        if (typeof length !== "number") return length;
        lengths.push(length);
      }
      if (source.kind === "concat") return lengths.reduce((sum, length) => sum + length, 0);
      return source.fill === undefined ? Math.min(...lengths) : Math.max(...lengths);
    }
  }
}

function lengthOfList(
  { taskId, path }: MappedOver,
  instances: readonly TaskSnapshot[],
): number | Extract<MapLength, { kind: "never" }> {
  const whole = instances.find((ti) => ti.mapIndex < 0);
  const state = whole?.state ?? (instances.length === 0 ? "removed" : "success");
  // What an earlier try of it returned does not count, nor does a mapped task that failed before it was expanded.
  if (state !== "success") {
    return never(state === "skipped" ? "skipped" : "upstream_failed", { kind: "expansion", taskId, state });
  }
  const length = instances.find((ti) => ti.lists !== undefined)?.lists?.[listKey(path)] ?? null;
  if (typeof length === "number") return length;
  const what = path.length === 0 ? taskId : `${path.join(".")} of ${taskId}`;
  const hint = length?.is === "an object" ? "; let it be Object.entries(…) of that, or [...map]" : "";
  const is = length === null ? "nothing was returned" : `it is ${length.is}${hint}`;
  return never("failed", { kind: "not_expandable", reason: `it is mapped over ${what}, which is no list: ${is}` });
}

const never = (to: "skipped" | "upstream_failed" | "failed", cause: Cause) => ({ kind: "never", to, cause }) as const;

/** What a mapping changes of the task instances of one task. */
export type Expansion<T extends TaskSnapshot = TaskSnapshot> =
  /** The unexpanded one becomes index 0, or an expanded task gets more: indexes `from` to `length - 1`, as `ti` is. */
  | { readonly kind: "add"; readonly ti: T; readonly from: number; readonly length: number }
  /** There is nothing to do any more: index 0 becomes the one that stands for the whole task. */
  | { readonly kind: "collapse"; readonly ti: T }
  /** Those that an earlier, shorter list had no use for. */
  | { readonly kind: "revive"; readonly tis: readonly T[] };

/**
 * How the instances of an expanded task, of which some are still to be decided, differ from what the lists say now: after
 * a clear they may have become longer or shorter. What is too many is removed one by one when it is decided.
 */
export function resize<T extends TaskSnapshot>(instances: readonly T[], length: number): readonly Expansion<T>[] {
  const open = instances.filter((ti) => ti.mapIndex >= 0 && ti.state === "none");
  const [any] = open;
  if (any === undefined) return [];
  if (length === 0) {
    const first = open.find((ti) => ti.mapIndex === 0);
    return first === undefined ? [] : [{ kind: "collapse", ti: first }];
  }
  const changes: Expansion<T>[] = [];
  const removed = instances.filter((ti) => ti.state === "removed" && ti.mapIndex >= 0 && ti.mapIndex < length);
  if (removed.length > 0) changes.push({ kind: "revive", tis: removed });
  // Indexes are given out in order and kept, so that the number of instances is the first that is free.
  const from = instances.reduce((sum, ti) => sum + (ti.mapIndex < 0 ? 0 : (ti.count ?? 1)), 0);
  if (from < length) changes.push({ kind: "add", ti: any, from, length });
  return changes;
}
