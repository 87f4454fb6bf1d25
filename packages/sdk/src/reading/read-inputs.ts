import type { DagDefinition, TaskNode } from "../authoring/definition.ts";
import { CombinedList } from "../authoring/lists.ts";
import { ElementRef, isDagEnd, NodeListRef, NodeValueRef } from "../authoring/node-ref.ts";
import { PATH } from "../authoring/refs.ts";
import type { InputSpec } from "../spec/index.ts";
import { encodeValue } from "../values/codec.ts";
import { fieldReferences, inputTitle } from "../templates/field-inputs.ts";
import { show } from "./checks.ts";
import { groupsAround } from "./group-ends.ts";

export interface ReadInputs {
  readonly inputs: Readonly<Record<string, InputSpec>>;
  /** The tasks whose values are among the inputs. */
  readonly sources: readonly TaskNode[];
}

/** What the call of a task's factory said about its arguments, and the references within the options of its operator. */
export function readInputs(task: TaskNode, report: (message: string) => void): ReadInputs {
  const { inputs: given = {} } = task.placement ?? {};
  const inputs: Record<string, InputSpec> = {};
  const sources: TaskNode[] = [];
  if (typeof given !== "object" || given === null || Array.isArray(given) || given instanceof NodeValueRef) {
    report(`its factory takes one object of named inputs, got ${show(given)}`);
    return { inputs, sources };
  }
  const inOptions = fieldReferences(task.body.fields);
  for (const [name, value] of Object.entries({ ...given, ...inOptions })) {
    if (value === undefined) continue;
    if (Object.hasOwn(inOptions, name) && value instanceof NodeListRef && value.isLazy) {
      report(`${inputTitle(name)} is read in pages, which only handlers can: leave out lazy()`);
      continue;
    }
    const input = readInput(task, value);
    if (typeof input === "string") report(`${inputTitle(name)} ${input}`);
    else Object.defineProperty(inputs, name, { value: input, enumerable: true });
    if (value instanceof NodeValueRef && value.source.dag === task.dag) sources.push(value.source);
  }
  return { inputs, sources };
}

/** What is wrong with taking a value, in words that follow its name; the task that it comes from when nothing is. */
export function valueOf(dag: DagDefinition, { source }: NodeValueRef<unknown>): TaskNode | string {
  if (source.dag !== dag) return `is task "${source.id}" of the DAG "${source.dag.id}"; use an XCom or a trigger`;
  if (pushesNothing(source.options)) return `comes from task "${source.id}", which stores no value (doXcomPush: false)`;
  return source;
}

function readInput(task: TaskNode, value: unknown): InputSpec | string {
  if (value instanceof NodeValueRef) {
    const source = valueOf(task.dag, value);
    if (typeof source === "string") return source;
    const isList = value instanceof NodeListRef;
    if (isList && !isListFor(source, task)) {
      return `is the list of values of task "${source.id}", which has one value here: it is not mapped, or is in the same mapped group`;
    }
    const wrong = wrongOfMany(value, task);
    if (wrong !== undefined) return wrong;
    const isLazy = isList && value.isLazy ? { lazy: true } : {};
    return { kind: "xcom", taskId: source.id, path: value[PATH], ...isLazy };
  }
  if (value instanceof ElementRef) {
    const { group } = value;
    return groupsAround(task).includes(group)
      ? { kind: "element", path: value[PATH] }
      : `is an element of the mapped group "${group.id}", which this task is not in`;
  }
  if (value instanceof CombinedList) return `is ${value.kind}(…), which goes into expand(…): map the task over it`;
  if (isDagEnd(value)) return "is a task group, which has no value; name a task of it";
  if (typeof value === "function" && "taskId" in value) return "is a factory: call it, and give what it returns";
  if (holdsReference(value, 0)) return "has a task's reference inside a literal; give it as an input of its own";
  try {
    return { kind: "literal", value: encodeValue(value) };
  } catch (error) {
    return `cannot be stored: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/**
 * What is wrong with a reference to a task of which the reader sees a list of values: the type of the reference says that
 * there is one, and a field of it would be undefined.
 */
function wrongOfMany(value: NodeValueRef<unknown>, task: TaskNode): string | undefined {
  const { source, [PATH]: path } = value;
  if (value instanceof NodeListRef || !isListFor(source, task)) return undefined;
  const [field] = path;
  if (source.placement?.mapping === undefined && field === undefined) return needsCollect(source);
  if (field === undefined || /^\d+$/.test(field)) return undefined;
  return `is the field "${field}" of what the mapped task "${source.id}" returns, which is a list: take all of it, and the fields in the handler`;
}

/** Said of a task of a mapped group to whoever is outside of it. */
export const needsCollect = (source: TaskNode): string =>
  `comes from task "${source.id}" of a mapped group, which has one value for each index: use collect(…) of it`;

/** Whether a task sees several values of another: that is mapped, and no instance of it belongs to the task alone. */
function isListFor(source: TaskNode, task: TaskNode): boolean {
  if (source.placement?.mapping !== undefined) return true;
  const mapped = groupsAround(source).findLast((group) => group.mapping !== undefined);
  return mapped !== undefined && !groupsAround(task).includes(mapped);
}

function pushesNothing(options: unknown): boolean {
  return typeof options === "object" && options !== null && "doXcomPush" in options && options.doXcomPush === false;
}

/** Bounded, because a literal may still be cyclic here; what lies deeper is refused as a class instance. */
function holdsReference(value: unknown, depth: number): boolean {
  const isReference = value instanceof NodeValueRef || value instanceof ElementRef || value instanceof CombinedList;
  if (isReference || isDagEnd(value)) return true;
  if (typeof value !== "object" || value === null || depth === 5) return false;
  return Object.values(value).some((inner) => holdsReference(inner, depth + 1));
}
