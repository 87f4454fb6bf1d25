import type { DagDefinition } from "../authoring/definition.ts";
import { registeredDags } from "../authoring/registry.ts";
import { stackAt } from "../authoring/call-site.ts";
import { readDag } from "../reading/read-dag.ts";
import { PROTOCOL, type Artifact, type DagReading, type TaskOutcome } from "./protocol.ts";
import { runTask } from "./run-task.ts";

/** The artifact of the DAGs that `declared` returns. */
export function createArtifact(declared: () => readonly DagDefinition[]): Artifact {
  return {
    protocol: PROTOCOL,
    dags() {
      const dags = declared();
      const ids = new Set(dags.map((dag) => dag.id));
      return Array.from(ids, (id) => readAll(id, dags));
    },
    async run(request, host) {
      const dag = declared().find((candidate) => candidate.id === request.dagId);
      if (dag === undefined) return cannotRun(`this file has no DAG "${request.dagId}"`);
      const { structure, problems } = readDag(dag);
      if (structure === undefined) {
        return cannotRun(`DAG "${dag.id}" cannot be read: ${problems.map((problem) => problem.message).join("; ")}`);
      }
      const task = structure.tasks.get(request.taskId);
      if (task === undefined) return cannotRun(`DAG "${dag.id}" has no task "${request.taskId}"`);
      return runTask(structure, task, request, host);
    },
  };
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
