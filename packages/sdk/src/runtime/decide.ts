import type { Node, TaskNode } from "../authoring/definition.ts";
import { isDagEnd } from "../authoring/node-ref.ts";
import { NODE } from "../authoring/refs.ts";
import type { DagStructure } from "../reading/read-dag.ts";
import { show } from "../reading/checks.ts";
import type { BranchDecision } from "./protocol.ts";

/** Whether the value of a task decides anything. */
export function decides(task: TaskNode): boolean {
  return task.decision !== undefined || task.body.branch !== undefined;
}

/** What the value of a task decides about its direct downstream tasks; undefined when it decides nothing. */
export function decide(dag: DagStructure, task: TaskNode, value: unknown): BranchDecision | undefined {
  if (task.decision?.kind === "if") return decideIf(dag, task, value);
  if (task.decision?.kind === "switch") return decideSwitch(dag, task, value);
  if (task.body.branch === "branch") return follow(dag, task, chosenTasks(dag, task, value));
  if (task.body.branch === "short_circuit" && !(task.body.goesOn ?? isTruthy)(value)) {
    return task.body.ignoreDownstreamTriggerRules === true ? { kind: "skip_all" } : { kind: "follow", taskIds: [] };
  }
  return undefined;
}

function decideIf(dag: DagStructure, task: TaskNode, value: unknown): BranchDecision {
  if (typeof value !== "boolean") {
    throw new TypeError(
      `task "${task.id}" is the condition of a dag.if(…) and must return true or false, got ${show(value)}`,
    );
  }
  const { arms = [], otherwise = [] } = task.decision ?? {};
  return value ? followArms(dag, task, arms, otherwise) : followArms(dag, task, otherwise, arms);
}

function decideSwitch(dag: DagStructure, task: TaskNode, value: unknown): BranchDecision {
  const cases = task.decision?.arms ?? [];
  const chosen = isDagEnd(value) ? value[NODE] : cases.find((node) => node.id === value);
  if (chosen === undefined || !cases.includes(chosen)) {
    const got = isDagEnd(value) ? `"${value[NODE].id}"` : show(value);
    const names = cases.map((node) => node.id).join(", ");
    throw new TypeError(`task "${task.id}" must return one of the cases of its dag.switch(…): ${names}; got ${got}`);
  }
  return followArms(
    dag,
    task,
    [chosen],
    cases.filter((node) => node !== chosen),
  );
}

/** Skips the roots of the arms that were not chosen. What else is downstream of the decider goes on. */
function followArms(
  dag: DagStructure,
  task: TaskNode,
  chosen: readonly Node[],
  rejected: readonly Node[],
): BranchDecision {
  const skipped = new Set(rejected.flatMap(dag.entries));
  const others = [...dag.graph.downstream(task)].filter((next) => !skipped.has(next));
  return follow(dag, task, [...chosen.flatMap(dag.entries), ...others]);
}

/** As in Airflow, a direct downstream task that also comes after a chosen one is not skipped: it is a join. */
function follow(dag: DagStructure, task: TaskNode, chosen: readonly TaskNode[]): BranchDecision {
  const kept = new Set([...chosen, ...dag.graph.reachable(chosen)]);
  const taskIds = [...dag.graph.downstream(task)].filter((next) => kept.has(next)).map((next) => next.id);
  return { kind: "follow", taskIds: taskIds.toSorted() };
}

/** What a `branch(…)` chose: references or ids of tasks or groups directly downstream, one or many, or none. */
function chosenTasks(dag: DagStructure, task: TaskNode, value: unknown): readonly TaskNode[] {
  if (value === null || value === undefined) return [];
  const direct = dag.graph.downstream(task);
  return [value].flat().flatMap((choice: unknown) => {
    const tasks = isDagEnd(choice) ? dag.entries(choice[NODE]) : named(dag, task, choice);
    if (tasks.length === 0 || tasks.some((chosen) => !direct.has(chosen))) {
      const name = isDagEnd(choice) ? `"${choice[NODE].id}"` : show(choice);
      const names = [...direct].map((next) => next.id).join(", ");
      throw new TypeError(
        `task "${task.id}" chose ${name}, which is not directly downstream of it; those are: ${names}`,
      );
    }
    return tasks;
  });
}

function named(dag: DagStructure, decider: TaskNode, id: unknown): readonly TaskNode[] {
  const task = dag.tasks.get(String(id));
  if (task !== undefined) return [task];
  const group = decider.dag.groups.find((candidate) => candidate.id === id);
  return group === undefined ? [] : dag.entries(group);
}

/** Python's truth: empty arrays and objects count as false, as they do for Airflow's short circuit. */
function isTruthy(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0;
  return Boolean(value);
}
