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
import { mappedGroupOf, readMapping, wrongMapping, type ReadMapping } from "./read-mapping.ts";
import { readDagOptions } from "./read-options.ts";
import { taskOptions, taskSpec, wrongGroupDefaults, wrongTaskOptions } from "./read-task.ts";
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
    for (const wrong of checkOptions(group.options, { tooltip: text, defaults: wrongGroupDefaults })) {
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
  const mappings = readMappings(dag, inputs, problems);
  const dataEdges = [...inputs].flatMap(([task, { sources }]) =>
    [...sources, ...(mappings.get(task)?.sources ?? [])].map((source) => [source, task] as const),
  );
  // What a mapped group is mapped over comes before it.
  const groupEdges = dag.groups.flatMap((group) =>
    (mappings.get(group)?.sources ?? []).map((from) => ({
      from,
      to: group,
      at: group.mapping?.at ?? group.declaredAt,
    })),
  );
  const { graph, entries } = resolveEdges(dag, dataEdges, problems, groupEdges);
  checkStructure(dag, graph, options.failFast, problems);
  if (problems.all.length > 0) return { structure: undefined, problems: problems.all };

  const queue = (dag.options as { readonly queue?: string } | undefined)?.queue; // checked with the options
  const tasks = dag.tasks.map((task) => {
    const upstream = [...graph.upstream(task)].map((before) => before.id).toSorted();
    const { mapping } = mappings.get(task) ?? {};
    return {
      ...taskSpec(task, queue, upstream, inputs.get(task)?.inputs ?? {}),
      ...present({ mapping, mapGroupId: mappedGroupOf(task)?.id }),
    };
  });
  const spec: DagSpec = {
    dagId: dag.id,
    ...options,
    owners: [...new Set(dag.tasks.map((task) => taskOptions(task).owner ?? "airflow"))].toSorted(),
    groups: dag.groups.map((group) => ({
      groupId: group.id,
      ...present({ parentGroupId: group.parent?.id, tooltip: (group.options as { tooltip?: string }).tooltip }), // checked
      ...present({ mapping: mappings.get(group)?.mapping }),
    })),
    tasks,
  };
  return {
    structure: { spec, graph, entries, tasks: new Map(dag.tasks.map((task) => [task.id, task])) },
    problems: [],
  };
}

/** Over what tasks and groups are mapped. */
function readMappings(
  dag: DagDefinition,
  inputs: ReadonlyMap<TaskNode, { readonly inputs: Readonly<Record<string, unknown>> }>,
  problems: Problems,
): ReadonlyMap<Node, ReadMapping> {
  const found = new Map<Node, ReadMapping>();
  for (const group of dag.groups) {
    if (group.mapping === undefined) continue;
    const { given, at } = group.mapping;
    const report = (message: string) => problems.add(`task group "${group.id}": ${message}`, at);
    const outer = mappedGroupOf(group);
    if (outer !== undefined)
      report(`it is mapped within the mapped group "${outer.id}": nested mapping is not possible`);
    const mapping = readMapping(dag, given, [], report);
    if (mapping !== undefined) found.set(group, mapping);
  }
  for (const task of dag.tasks) {
    const given = task.placement?.mapping;
    const report = (message: string) =>
      problems.add(`task "${task.id}": ${message}`, task.placement?.at ?? task.declaredAt);
    const mapping =
      given === undefined ? undefined : readMapping(dag, given, Object.keys(inputs.get(task)?.inputs ?? {}), report);
    if (mapping !== undefined) found.set(task, mapping);
    const rule = taskOptions(task).triggerRule ?? "all_success";
    for (const wrong of wrongMapping(task, rule, (mapping?.sources.length ?? 0) > 0)) report(`it ${wrong}`);
  }
  return found;
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
