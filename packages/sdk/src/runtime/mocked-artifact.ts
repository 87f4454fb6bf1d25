import type { DagDefinition } from "../authoring/definition.ts";
import type { TaskMock } from "../authoring/dag-test.ts";
import { readDag } from "../reading/read-dag.ts";
import { createArtifact } from "./artifact.ts";
import type { Artifact } from "./protocol.ts";
import { runTask } from "./run-task.ts";

/** One DAG, some of whose handlers are replaced. What a mock gives is treated as the handler's own value or error. */
export function mockedArtifact(dag: DagDefinition, mocks: Readonly<Record<string, TaskMock>>): Artifact {
  const artifact = createArtifact(() => [dag]);
  return {
    ...artifact,
    async run(request, host) {
      const { structure } = readDag(dag);
      const task = structure?.tasks.get(request.taskId);
      const mock = mocks[request.taskId];
      if (
        structure === undefined ||
        task === undefined ||
        mock === undefined ||
        !Object.hasOwn(mocks, request.taskId)
      ) {
        return await artifact.run(request, host);
      }
      return await runTask(structure, task, request, host, (inputs) => {
        if (mock instanceof Error) throw mock;
        return typeof mock === "function" ? mock(inputs) : mock;
      });
    },
  };
}
