// `dag.test()`: a run in this process with what people gave for it, and everything that it left.
import type { DagTestLogLine, DagTestOptions, DagTestResult } from "../../authoring/dag-test.ts";
import type { Artifact } from "../../runtime/index.ts";
import type { DagSpec } from "../../spec/index.ts";
import { decodeInputs } from "../../values/codec.ts";
import { AppError } from "@millrace/shared/errors";
import { checkRunFits } from "@millrace/shared/params";
import { captureOutput } from "./capture-output.ts";
import { nameOf } from "./mapped-tasks.ts";
import { MemoryStore } from "./memory-store.ts";
import { runInProcess } from "./run-in-process.ts";
import { runOneTask } from "./run-one-task.ts";
import type { InProcessOptions } from "./test-run.ts";

/** @throws AppError TASK_NOT_FOUND, RUN_PARAMS_INVALID */
export async function testArtifact(artifact: Artifact, spec: DagSpec, options: DagTestOptions): Promise<DagTestResult> {
  const { mocks = {}, inputs = {}, variables = {}, connections = {}, only } = options;
  const named = [...Object.keys(mocks), ...Object.keys(inputs), ...(only === undefined ? [] : [only])];
  for (const taskId of named) {
    if (spec.tasks.some((task) => task.taskId === taskId)) continue;
    const where = `; it has ${spec.tasks.map((task) => task.taskId).join(", ")}`;
    throw new AppError("TASK_NOT_FOUND", { dagId: spec.dagId, taskId, where });
  }
  const logs = new Map<string, DagTestLogLine[]>();
  const linesOf = (name: string): DagTestLogLine[] => {
    const lines = logs.get(name) ?? [];
    logs.set(name, lines);
    return lines;
  };
  const store = new MemoryStore({
    variable: (key) => (Object.hasOwn(variables, key) ? variables[key] : undefined),
    connection: (connectionId) => {
      const found = Object.hasOwn(connections, connectionId) ? connections[connectionId] : undefined;
      return found === undefined ? undefined : { connectionId, ...found };
    },
  });
  checkRunFits(spec, options.conf ?? {});
  const capture = captureOutput<string>((name, stream, message) => {
    linesOf(name).push({ level: stream === "stdout" ? "info" : "warn", message });
  });
  const run: Artifact["run"] = async (request, host) => {
    const given = { ...request.inputs, ...inputs[request.taskId] };
    return await capture.within(nameOf(request), () => artifact.run({ ...request, inputs: given }, host));
  };
  const settings: InProcessOptions = {
    logicalDate: options.logicalDate === undefined ? Date.now() : (options.logicalDate?.getTime() ?? null),
    store,
    onLog: (task, level, message) => linesOf(nameOf(task)).push({ level, message }),
    ...(options.conf === undefined ? {} : { conf: options.conf }),
    ...(options.maxMapLength === undefined ? {} : { maxMapLength: options.maxMapLength }),
    ...(options.concurrency === undefined ? {} : { concurrency: options.concurrency }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  };
  try {
    const recorded = { ...artifact, run };
    const result =
      only === undefined
        ? await runInProcess(recorded, spec, settings)
        : await runOneTask(recorded, spec, only, settings, mocks);
    const tasks = result.tasks.map((task) => {
      const { taskId, mapIndex } = task;
      const xcoms = decodeInputs(store.xcomsOf({ dagId: spec.dagId, runId: result.runId, taskId, mapIndex }));
      const { state, tryNumber, error, reason } = task;
      return [
        nameOf(task),
        { state, tryNumber, value: xcoms["return_value"], xcoms, logs: logs.get(nameOf(task)) ?? [], error, reason },
      ] as const;
    });
    return { runId: result.runId, state: result.state, tasks: Object.fromEntries(tasks) };
  } finally {
    capture.stop();
  }
}
