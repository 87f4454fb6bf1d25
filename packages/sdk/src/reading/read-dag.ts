// From what a file declared to a DagSpec, or to everything that is wrong with it. Never runs a handler.
import type { DagDefinition, Node, TaskNode } from "../authoring/definition.ts";
import type { DagProblem } from "../runtime/protocol.ts";
import type { DagSpec } from "../spec/index.ts";
import { checkOptions, text } from "./checks.ts";
import type { Graph } from "./graph.ts";
import { wrongId } from "./ids.ts";
import { present } from "./present.ts";
import { Problems } from "./problems.ts";
import { readInputs } from "./read-inputs.ts";
import { readDagOptions } from "./read-options.ts";
import { taskOptions, taskSpec, wrongTaskOptions } from "./read-task.ts";
import { resolveEdges } from "./resolve-edges.ts";
import { checkStructure } from "./check-structure.ts";

/** A DAG that can run: its data, and the code behind it. */
export interface DagStructure {
  readonly spec: DagSpec;
  readonly graph: Graph;
  readonly tasks: ReadonlyMap<string, TaskNode>;
  /** The tasks through which a branch enters one of its arms. */
  readonly entries: (node: Node) => readonly TaskNode[];
}

/** `structure` is there exactly when there are no problems. */
export interface DagReadResult {
  readonly structure: DagStructure | undefined;
  readonly problems: readonly DagProblem[];
}

/** Reads a DAG; the result is kept until its next change. */
export function readDag(dag: DagDefinition): DagReadResult {
  dag.reading ??= readGuarded(dag);
  return dag.reading;
}

/** One DAG whose options throw when they are looked at must not hide the others of its file. */
function readGuarded(dag: DagDefinition): DagReadResult {
  try {
    return read(dag);
  } catch (error) {
    const problems = new Problems();
    problems.add(`DAG "${dag.id}" cannot be read: ${String(error)}`, dag.declaredAt);
    return { structure: undefined, problems: problems.all };
  }
}

function read(dag: DagDefinition): DagReadResult {
  const problems = new Problems();
  for (const { message, at } of dag.problems) problems.add(message, at);
  const wrongDagId = wrongId(dag.id);
  if (wrongDagId !== undefined) problems.add(`DAG id "${dag.id}" ${wrongDagId}`, dag.declaredAt);
  const options = readDagOptions(dag, (message) => problems.add(`DAG "${dag.id}": ${message}`, dag.declaredAt));
  checkIds(dag, problems);
  for (const group of dag.groups) {
    for (const wrong of checkOptions(group.options, { tooltip: text })) {
      problems.add(`task group "${group.id}": ${wrong}`, group.declaredAt);
    }
  }
  for (const task of dag.tasks) {
    for (const wrong of wrongTaskOptions(task)) problems.add(`task "${task.id}": ${wrong}`, task.declaredAt);
    if (task.placement === undefined) {
      problems.add(`task "${task.id}" is declared but not placed: call its factory once`, task.declaredAt);
    }
  }
  const inputs = new Map(
    dag.tasks.map((task) => {
      const at = task.placement?.at ?? task.declaredAt;
      return [task, readInputs(task, (message) => problems.add(`task "${task.id}": ${message}`, at))];
    }),
  );
  const dataEdges = [...inputs].flatMap(([task, { sources }]) => sources.map((source) => [source, task] as const));
  const { graph, entries } = resolveEdges(dag, dataEdges, problems);
  checkStructure(dag, graph, options.failFast, problems);
  if (problems.all.length > 0) return { structure: undefined, problems: problems.all };

  const queue = (dag.options as { readonly queue?: string } | undefined)?.queue; // checked with the options
  const tasks = dag.tasks.map((task) => {
    const upstream = [...graph.upstream(task)].map((before) => before.id).toSorted();
    return taskSpec(task, queue, upstream, inputs.get(task)?.inputs ?? {});
  });
  const spec: DagSpec = {
    dagId: dag.id,
    ...options,
    owners: [...new Set(dag.tasks.map((task) => taskOptions(task).owner ?? "airflow"))].toSorted(),
    groups: dag.groups.map((group) => ({
      groupId: group.id,
      ...present({ parentGroupId: group.parent?.id, tooltip: (group.options as { tooltip?: string }).tooltip }), // checked
    })),
    tasks,
  };
  return {
    structure: { spec, graph, entries, tasks: new Map(dag.tasks.map((task) => [task.id, task])) },
    problems: [],
  };
}

/** Tasks and groups share one namespace, as in Airflow. */
function checkIds(dag: DagDefinition, problems: Problems): void {
  const taken = new Map<string, Node>();
  for (const node of [...dag.groups, ...dag.tasks]) {
    const kind = node.kind === "task" ? "task" : "task group";
    const wrong = wrongId(node.id);
    if (wrong !== undefined) problems.add(`${kind} id "${node.id}" ${wrong}`, node.declaredAt);
    if (taken.has(node.id)) {
      problems.add(
        `${kind} "${node.id}" is declared twice: ids of tasks and groups are unique in a DAG`,
        node.declaredAt,
      );
    }
    taken.set(node.id, node);
  }
}
