import type { Artifact } from "../../runtime/index.ts";
import type { DagSpec, Json } from "../../spec/index.ts";
import { MemoryStore } from "./memory-store.ts";
import { runInProcess } from "./run-in-process.ts";
import type { InProcessOptions, InProcessResult } from "./test-run.ts";

/** One task of a DAG, all of its tries: its upstreams are not run, and have the values that are given for them. */
export async function runOneTask(
  artifact: Artifact,
  spec: DagSpec,
  taskId: string,
  options: InProcessOptions,
  values: Readonly<Record<string, unknown>>,
): Promise<InProcessResult> {
  const alone = spec.tasks
    .filter((task) => task.taskId === taskId)
    .map(({ mapping: _mapping, mapGroupId: _group, ...task }) => ({
      ...task,
      upstream: [],
      // What one instance of a mapped task is given of a list is said with its inputs.
      inputs: Object.fromEntries(Object.entries(task.inputs).filter(([, { kind }]) => kind !== "element")),
      triggerRule: "all_success" as const,
      isTeardown: false,
    }));
  const { store = new MemoryStore(), logicalDate } = options;
  const runId = options.runId ?? `manual__${new Date(logicalDate ?? Date.now()).toISOString()}`;
  for (const [upstream, value] of Object.entries(values)) {
    if (upstream === taskId || value === undefined || typeof value === "function" || value instanceof Error) continue;
    // What is neither undefined, a function nor an error was given as JSON.
    store.setXCom({ dagId: spec.dagId, runId, taskId: upstream, mapIndex: -1, key: "return_value" }, value as Json);
  }
  return await runInProcess(artifact, { ...spec, tasks: alone }, { ...options, store, runId });
}
