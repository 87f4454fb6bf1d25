import type { DagDefinition, TaskNode } from "../authoring/definition.ts";
import type { DagOptions } from "../authoring/dag-options.ts";
import { registeredDags } from "../authoring/registry.ts";
import { stackAt } from "../authoring/call-site.ts";
import { registeredTriggers, type TriggerCode } from "../triggers/registry.ts";
import { readDag, type DagStructure } from "../reading/read-dag.ts";
import { taskOptions } from "../reading/read-task.ts";
import { planRuns } from "./plan-runs.ts";
import { PROTOCOL, type Artifact, type DagReading, type TaskOutcome } from "./protocol.ts";
import { dagEventOf, listOf, runCallbacks, taskEventOf } from "./run-callback.ts";
import { renderTask } from "./render-task.ts";
import { runTask } from "./run-task.ts";
import { runTrigger } from "./run-trigger.ts";

/** The artifact of the DAGs that `declared` returns, and of the triggers of `triggers`. */
export function createArtifact(
  declared: () => readonly DagDefinition[],
  triggers: () => ReadonlyMap<string, TriggerCode> = registeredTriggers,
): Artifact {
  return {
    protocol: PROTOCOL,
    dags() {
      const dags = declared();
      const ids = new Set(dags.map((dag) => dag.id));
      return Array.from(ids, (id) => readAll(id, dags));
    },
    planRuns: (request) =>
      planRuns(
        declared().find((dag) => dag.id === request.dagId),
        request,
      ),
    async run(request, host) {
      const found = find(declared(), request.dagId, request.taskId);
      return typeof found === "string" ? cannotRun(found) : runTask(found.structure, found.task, request, host);
    },
    async render(request, host) {
      const found = find(declared(), request.dagId, request.taskId);
      return typeof found === "string"
        ? { kind: "failed", error: { name: "TaskNotFound", message: found } }
        : renderTask(found.structure, found.task, request, host);
    },
    async runCallback(request, host) {
      const found = find(declared(), request.dagId, request.taskId);
      if (typeof found === "string") return { kind: "failed", errors: [{ name: "CallbackNotFound", message: found }] };
      const { dag, structure, task } = found;
      const { kind } = request;
      if (kind === "dagOnSuccess" || kind === "dagOnFailure") {
        const { onSuccess, onFailure } = dag.options as DagOptions; // checked when the DAG was read
        const functions = listOf(kind === "dagOnSuccess" ? onSuccess : onFailure);
        return runCallbacks(functions, dagEventOf(request), structure, request, host);
      }
      const functions = task === undefined ? [] : listOf(taskOptions(task)[kind]);
      return runCallbacks(functions, taskEventOf(request, task?.id ?? ""), structure, request, host);
    },
    async runTrigger(request, host) {
      const { dagId, taskId } = request.attempt;
      const found = find(declared(), dagId, request.isWatcher === true ? null : taskId);
      return runTrigger({ found, triggers: triggers() }, request, host);
    },
  };
}

interface Found<T> {
  readonly dag: DagDefinition;
  readonly structure: DagStructure;
  readonly task: T;
}

/** A DAG of the file and one of its tasks, or why they cannot be had. Reading a DAG costs once: see readDag. */
function find(all: readonly DagDefinition[], dagId: string, taskId: string): Found<TaskNode> | string;
function find(
  all: readonly DagDefinition[],
  dagId: string,
  taskId: string | null,
): Found<TaskNode | undefined> | string;
function find(
  all: readonly DagDefinition[],
  dagId: string,
  taskId: string | null,
): Found<TaskNode | undefined> | string {
  const dag = all.find((candidate) => candidate.id === dagId);
  if (dag === undefined) return `this file has no DAG "${dagId}"`;
  const { structure, problems } = readDag(dag);
  if (structure === undefined) {
    return `DAG "${dag.id}" cannot be read: ${problems.map((problem) => problem.message).join("; ")}`;
  }
  if (taskId === null) return { dag, structure, task: undefined };
  const task = structure.tasks.get(taskId);
  return task === undefined ? `DAG "${dag.id}" has no task "${taskId}"` : { dag, structure, task };
}

/** Reads the DAGs of one id. Two of them are both refused: nobody could say which one is meant. */
function readAll(dagId: string, all: readonly DagDefinition[]): DagReading {
  const dags = all.filter((dag) => dag.id === dagId);
  const results = dags.map(readDag);
  const [only] = results;
  if (results.length === 1 && only?.structure !== undefined) return { dagId, spec: only.structure.spec };
  const duplicates = dags.slice(1).map(({ declaredAt }) => {
    const message = `the DAG "${dagId}" is declared ${dags.length} times in this file: ids of DAGs are unique`;
    const stack = stackAt(declaredAt, message);
    return stack === undefined ? { message } : { message, stack };
  });
  return { dagId, problems: [...duplicates, ...results.flatMap((result) => result.problems)] };
}

/** The code of an artifact never changes, so another try would end the same way. */
function cannotRun(message: string): TaskOutcome {
  return { kind: "failed", retryable: false, error: { name: "TaskNotFound", message } };
}

/** What the bundle of a DAG file exports: everything that the file declared. */
export const artifact: Artifact = createArtifact(registeredDags);
