// `tasks test` at work: one task, its log as it comes, and what it returned.
import type { Json } from "@millrace/sdk/spec";
import { captureOutput, runOneTask } from "@millrace/sdk/testing";
import { AppError } from "@millrace/shared/errors";
import { findDag } from "../../load-dag/find-dag.ts";
import type { Io } from "../../io/io.ts";
import { Ended } from "../../io/report-error.ts";
import { paintState } from "../../output/paint-state.ts";
import { configOf } from "../../process/config-of.ts";
import { listenForStop } from "../../process/stop-signals.ts";
import { openInProcess } from "../../load-dag/in-process-store.ts";
import type { TestTaskOptions } from "./test.ts";

export async function runTestTask(
  given: Io,
  fileOrId: string,
  taskId: string,
  options: TestTaskOptions,
): Promise<void> {
  const config = configOf(given, {}, []);
  const found = await findDag(config, fileOrId, options.dag, given.cwd);
  const { store, io } = await openInProcess(given, config);
  const { dagId, tasks } = found.spec;
  for (const id of [taskId, ...Object.keys(options.upstream)]) {
    if (tasks.some((task) => task.taskId === id)) continue;
    throw new AppError("TASK_NOT_FOUND", {
      dagId,
      taskId: id,
      where: `; it has ${tasks.map((task) => task.taskId).join(", ")}`,
    });
  }
  const { checkRunFits } = await import("@millrace/shared/params");
  checkRunFits(found.spec, options.conf ?? {});
  const capture = captureOutput<string>((_task, _stream, line) => io.out(`${line}\n`));
  const stop = listenForStop();
  try {
    const run: typeof found.artifact.run = async (request, host) => {
      // Read as JSON from the command line.
      const inputs = { ...request.inputs, ...(options.input as Record<string, Json>) };
      return await capture.within(taskId, () => found.artifact.run({ ...request, inputs }, host));
    };
    const settings = {
      logicalDate: (options.date ?? new Date()).getTime(),
      conf: (options.conf ?? {}) as Record<string, Json>,
      store,
      maxXComBytes: config.core.max_xcom_bytes,
      signal: stop.signal,
      onLog: (_task: unknown, _level: unknown, message: string) => capture.outside(() => io.out(`${message}\n`)),
    };
    const result = await runOneTask({ ...found.artifact, run }, found.spec, taskId, settings, options.upstream);
    const [task] = result.tasks;
    const { return_value: value } = store.xcomsOf({ dagId, runId: result.runId, taskId, mapIndex: -1 });
    if (task?.error !== undefined) {
      const { name, message, stack } = task.error;
      io.out(`${stack === undefined ? `${name}: ${message}` : found.mapStack(stack)}\n`);
    }
    if (value !== undefined) io.out(`returned ${JSON.stringify(value)}\n`);
    const tries = task !== undefined && task.tryNumber > 1 ? ` in try ${task.tryNumber}` : "";
    io.out(`${taskId} ${paintState(io, task?.state ?? "none")}${tries}\n`);
    if (result.state === "failed") throw new Ended(result.wasAborted ? 130 : 1);
  } finally {
    capture.stop();
    stop.dispose();
  }
}
