// Mapped tasks of a test run: the instances that they are expanded into, and what those read of each other.
import type { RunRequest, XComKey } from "../../runtime/index.ts";
import type { Json } from "../../spec/index.ts";
import { fieldAt, fieldsOf } from "../../values/codec.ts";
import {
  argumentsAt,
  isFinished,
  listIn,
  listKey,
  type DagGraph,
  type Expansion,
  type ListLength,
  type TaskNode,
} from "@millrace/shared/model";
import type { MemoryStore } from "./memory-store.ts";
import { newTask, type TestTask } from "./test-run.ts";

/** How one task instance is named: as its task, with the index where it has one. */
export const nameOf = ({ taskId, mapIndex }: Pick<TestTask, "taskId" | "mapIndex">): string =>
  mapIndex < 0 ? taskId : `${taskId}[${mapIndex}]`;

export interface MappedRun {
  readonly graph: DagGraph;
  readonly store: MemoryStore;
  readonly dagId: string;
  readonly runId: string;
  readonly tasks: ReadonlyMap<string, TestTask>;
}

/** By task id, with the lengths of the lists of those over which others are mapped. */
export function knownOf(run: MappedRun): Map<string, TestTask[]> {
  const known = new Map<string, TestTask[]>([...run.graph.tasks.keys()].map((id) => [id, []]));
  for (const task of run.tasks.values()) known.get(task.taskId)?.push(task);
  for (const [id, [first, ...rest]] of known) {
    const paths = run.graph.tasks.get(id)?.listPaths ?? [];
    if (first === undefined || paths.length === 0 || ![first, ...rest].every(({ state }) => isFinished(state)))
      continue;
    const value = valueOf(run, id, undefined, -1);
    const lists = Object.fromEntries(paths.map((path) => [listKey(path), lengthOf(fieldAt(value, path))]));
    known.set(id, [{ ...first, lists }, ...rest]);
  }
  return known;
}

function lengthOf(value: Json | undefined): ListLength {
  if (value === undefined) return null;
  if (Array.isArray(value)) return value.length;
  if (value === null) return { is: "null" };
  return { is: typeof value === "object" ? "an object" : `a ${typeof value}` };
}

/** The instances that take the place of an unexpanded task. In one run, lists neither grow nor shrink. */
export function instancesOf(expansion: Expansion<TestTask>): TestTask[] {
  if (expansion.kind !== "add") return [];
  const { taskId } = expansion.ti;
  return Array.from({ length: expansion.length }, (_, mapIndex) => ({ ...newTask(taskId), mapIndex }));
}

/**
 * The handler's argument.
 * @throws NoElement when there is nothing for its index
 */
export async function inputsOf(
  run: MappedRun,
  node: TaskNode,
  mapIndex: number,
): Promise<Pick<RunRequest, "inputs" | "lazyInputs">> {
  const { spec, mapping } = node;
  const element =
    mapping === undefined
      ? {}
      : await argumentsAt(mapping, mapIndex, ({ taskId, path }) => {
          const value = fieldAt(valueOf(run, taskId, undefined, -1), path);
          return Promise.resolve(listIn(Array.isArray(value) ? (value as readonly Json[]) : []));
        });
  const inputs: Record<string, Json> = {};
  const lazyInputs: Record<string, { taskId: string; length: number }> = {};
  for (const [name, input] of Object.entries(spec.inputs)) {
    if (input.kind === "xcom" && input.lazy === true) {
      lazyInputs[name] = {
        taskId: input.taskId,
        length: run.store.mappedValues({ ...run, taskId: input.taskId }).length,
      };
      continue;
    }
    const value =
      input.kind === "literal"
        ? input.value
        : fieldAt(input.kind === "element" ? element : valueOf(run, input.taskId, node, mapIndex), input.path);
    if (value !== undefined) inputs[name] = value;
  }
  const own = fieldsOf(element) ?? {};
  if (spec.mapping?.kind === "expandKwargs" && spec.mapping.strict) {
    const twice = Object.keys(own).find((name) => Object.hasOwn(spec.inputs, name));
    if (twice !== undefined) throw new Error(`"${twice}" is in partial(…) and in what the task is mapped over`);
  }
  const all = spec.mapping === undefined ? inputs : { ...inputs, ...own };
  return { inputs: all, ...(Object.keys(lazyInputs).length === 0 ? {} : { lazyInputs }) };
}

/** @param reader who reads it, at `mapIndex`; undefined for all of a mapped task */
function valueOf(
  { graph, store, dagId, runId }: MappedRun,
  taskId: string,
  reader: TaskNode | undefined,
  mapIndex: number,
): Json | undefined {
  const source = graph.tasks.get(taskId);
  const isOfSameIndex = source?.mapGroup !== undefined && source.mapGroup === reader?.mapGroup;
  if (source?.mapping !== undefined && !isOfSameIndex) return store.mappedValues({ dagId, runId, taskId });
  const key: XComKey = { dagId, runId, taskId, mapIndex: isOfSameIndex ? mapIndex : -1, key: "return_value" };
  return store.getXCom(key);
}
