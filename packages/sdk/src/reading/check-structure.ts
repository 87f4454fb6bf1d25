import type { DagDefinition, Node, TaskNode } from "../authoring/definition.ts";
import type { Graph } from "./graph.ts";
import type { Problems } from "./problems.ts";
import { mappedGroupOf } from "./read-mapping.ts";
import { taskOptions } from "./read-task.ts";

/** The rules that need the whole graph. Those for setups and `failFast` are Airflow's. */
export function checkStructure(dag: DagDefinition, graph: Graph, failFast: boolean, problems: Problems): void {
  const cycle = graph.cycle(dag.tasks);
  if (cycle !== undefined) {
    const names = [...cycle, ...cycle.slice(0, 1)].map((task) => task.id).join(" → ");
    problems.add(`the tasks wait for each other in a circle: ${names}`, edgeOf(dag, cycle) ?? dag.declaredAt);
  }
  for (const task of dag.tasks) {
    const at = task.placement?.at ?? task.declaredAt;
    const rule = taskOptions(task).triggerRule ?? "all_success";
    if (!task.isTeardown && rule !== "all_success") {
      const setup = [...graph.upstream(task)].find((before) => before.isSetup);
      if (setup !== undefined) {
        problems.add(`task "${task.id}" follows the setup "${setup.id}" and must use all_success, not ${rule}`, at);
      }
      if (failFast) problems.add(`task "${task.id}" must use all_success, not ${rule}, in a DAG with failFast`, at);
    }
    if (task.decision !== undefined && task.decision.arms.length === 0) {
      const missing = task.decision.kind === "if" ? "then(…)" : "case(…)";
      problems.add(`dag.${task.decision.kind}(…) of task "${task.id}" has no ${missing}`, task.decision.at);
    }
    const beyond = beyondDecision(task, graph);
    if (beyond !== undefined) {
      problems.add(
        `task "${task.id}" is mapped and decides for its own index only, so that nothing of it would count for ${beyond.kind} "${beyond.id}": put that into the same mapped group, or let a task decide that takes the values of all indexes`,
        task.decision?.at ?? at,
      );
    }
  }
}

/** What a branch or a short circuit leads to, has no index in common with it, and would therefore always run. */
function beyondDecision(task: TaskNode, graph: Graph): Node | undefined {
  const { decision } = task;
  const led =
    decision !== undefined
      ? [...decision.arms, ...decision.otherwise]
      : task.body.branch === undefined
        ? []
        : graph.downstream(task);
  const group = mappedGroupOf(task);
  if (group === undefined && task.placement?.mapping === undefined) return undefined;
  return [...led].find((next) => group === undefined || mappedGroupOf(next) !== group);
}

/** The last edge that was drawn between two tasks of the cycle: most likely the one that is wrong. */
function edgeOf(dag: DagDefinition, cycle: readonly unknown[]) {
  return dag.edges.findLast((edge) => cycle.includes(edge.from) && cycle.includes(edge.to))?.at;
}
