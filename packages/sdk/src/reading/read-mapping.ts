// What `expand` and `expandKwargs` were given, as data. The rules are Airflow's: no mapping within a mapped group, no
// trigger rule `always` where the lists have to be waited for.
import type { DagDefinition, GroupNode, MappingGiven, TaskNode } from "../authoring/definition.ts";
import { CombinedList } from "../authoring/lists.ts";
import { ElementRef, isDagEnd, NodeListRef, NodeValueRef } from "../authoring/node-ref.ts";
import { PATH, SOURCES } from "../authoring/refs.ts";
import type { Json, MappingSpec, MapSource } from "../spec/index.ts";
import { encodeValue, fieldsOf } from "../values/codec.ts";
import { show } from "./checks.ts";
import { groupsAround } from "./group-ends.ts";
import { needsCollect, valueOf } from "./read-inputs.ts";

type Report = (message: string) => void;

export interface ReadMapping {
  readonly mapping: MappingSpec;
  /** The tasks over whose values it maps. */
  readonly sources: readonly TaskNode[];
}

/** The innermost mapped group around a task or a group. */
export const mappedGroupOf = (node: TaskNode | GroupNode): GroupNode | undefined =>
  groupsAround(node).findLast((group) => group.mapping !== undefined);

/** @param fixed the names of the inputs that every instance has */
export function readMapping(
  dag: DagDefinition,
  given: MappingGiven,
  fixed: readonly string[],
  report: Report,
): ReadMapping | undefined {
  const sources: TaskNode[] = [];
  const read = (value: unknown, where: string) => readSource(dag, value, where, sources, report);
  if (given.kind === "expandKwargs") {
    const source = read(given.list, "expandKwargs(…)");
    if (source?.kind === "literal") checkObjects(source.values, given.strict ? fixed : [], report);
    return source === undefined
      ? undefined
      : { mapping: { kind: "expandKwargs", source, strict: given.strict }, sources };
  }
  const { lists } = given;
  if (typeof lists !== "object" || lists === null || Array.isArray(lists) || isReference(lists)) {
    report(`expand(…) takes one object of named lists, got ${show(lists)}`);
    return undefined;
  }
  const entries = Object.entries(lists).filter(([, value]) => value !== undefined);
  if (entries.length === 0) report("expand(…) needs at least one list");
  const named = entries.flatMap(([name, value]) => {
    if (fixed.includes(name)) report(`"${name}" is in partial(…) and in expand(…): give it once`);
    const source = read(value, `expand(…): "${name}"`);
    return source === undefined ? [] : [{ name, source }];
  });
  return { mapping: { kind: "expand", lists: named }, sources };
}

function readSource(
  dag: DagDefinition,
  value: unknown,
  where: string,
  sources: TaskNode[],
  report: Report,
): MapSource | undefined {
  if (value instanceof CombinedList) {
    const inner = value[SOURCES].map((one) => readSource(dag, one, where, sources, report));
    const known = inner.filter((one) => one !== undefined);
    if (known.length < inner.length || known.length === 0) {
      if (inner.length === 0) report(`${where}: ${value.kind}(…) needs at least one list`);
      return undefined;
    }
    if (value.fill === undefined) return { kind: value.kind, sources: known };
    return { kind: "zip", sources: known, fill: literal(value.fill.value, where, report) ?? null };
  }
  if (value instanceof ElementRef) {
    report(`${where} is an element of the mapped group "${value.group.id}": nested mapping is not possible`);
    return undefined;
  }
  if (value instanceof NodeValueRef) {
    const wrong = valueOf(dag, value);
    if (typeof wrong === "string") {
      report(`${where} ${wrong}`);
      return undefined;
    }
    const isMapped = value.source.placement?.mapping !== undefined || mappedGroupOf(value.source) !== undefined;
    if (isMapped && value[PATH].length > 0) {
      report(
        `${where} is one field of the mapped task "${value.source.id}": map over all of it, and take the field in the handler`,
      );
      return undefined;
    }
    if (mappedGroupOf(value.source) !== undefined && !(value instanceof NodeListRef)) {
      report(`${where} ${needsCollect(value.source)}`);
    }
    sources.push(value.source);
    return { kind: "xcom", taskId: value.source.id, path: value[PATH] };
  }
  if (!Array.isArray(value)) {
    const hint =
      typeof value === "function"
        ? "a factory has to be called first"
        : typeof value === "object" && value !== null
          ? "got an object: give Object.entries(…) of it, or [...] of a Map or a Set"
          : `got ${show(value)}`;
    report(`${where} must be a list: an array, or the reference that a task's factory returned; ${hint}`);
    return undefined;
  }
  if (value.some(isReference)) {
    report(`${where} has references in an array: use concat(…) of lists, or let one task return the list`);
    return undefined;
  }
  const values = literal(value, where, report);
  return Array.isArray(values) ? { kind: "literal", values } : undefined;
}

const isReference = (value: unknown): boolean =>
  value instanceof NodeValueRef || value instanceof ElementRef || value instanceof CombinedList || isDagEnd(value);

function literal(value: unknown, where: string, report: Report): Json | undefined {
  try {
    return encodeValue(value);
  } catch (error) {
    report(`${where} cannot be stored: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

/** @param fixed what must not be given once more */
function checkObjects(values: readonly Json[], fixed: readonly string[], report: Report): void {
  const at = values.findIndex((value) => fieldsOf(value) === undefined);
  if (at >= 0) report(`expandKwargs(…) takes a list of objects of arguments, but number ${at} is ${show(values[at])}`);
  const twice = fixed.find((name) => values.some((value) => Object.hasOwn(fieldsOf(value) ?? {}, name)));
  if (twice !== undefined) {
    report(
      `"${twice}" is in partial(…) and in expandKwargs(…): give it once, or let the latter win with expandKwargs(…, { strict: false })`,
    );
  }
}

/** What is wrong with the mapping of a task or with its place, whatever the lists are. */
export function wrongMapping(task: TaskNode, triggerRule: string, isMappedOverTasks: boolean): readonly string[] {
  const group = mappedGroupOf(task);
  const isMapped = task.placement?.mapping !== undefined;
  const wrong: string[] = [];
  if (isMapped && group !== undefined) {
    wrong.push(`is mapped and stands in the mapped group "${group.id}": nested mapping is not possible`);
  }
  if (triggerRule === "always" && (group !== undefined || (isMapped && isMappedOverTasks))) {
    wrong.push(
      group === undefined
        ? "must not use the trigger rule always: it has to wait for what it is mapped over"
        : `must not use the trigger rule always in the mapped group "${group.id}"`,
    );
  }
  return wrong;
}
