// `dags test` at work: finds the DAG, runs it, shows logs and states as they come, and a table at the end.
import { setTimeout as sleep } from "node:timers/promises";
import type { Json } from "@millrace/sdk/spec";
import {
  captureOutput,
  nameOf,
  runInProcess,
  type InProcessResult,
  type LogLevel,
  type TestTask,
} from "@millrace/sdk/testing";
import { isFinished } from "@millrace/shared/model";
import type { Io } from "../../io/io.ts";
import { Ended } from "../../io/report-error.ts";
import { printList, type Column } from "../../output/format.ts";
import { createProgress, type Progress } from "../../output/progress.ts";
import { configOf } from "../../process/config-of.ts";
import { listenForStop } from "../../process/stop-signals.ts";
import { findDag, type FoundDag } from "../../load-dag/find-dag.ts";
import type { TestOptions } from "./test.ts";
import { openInProcess } from "../../load-dag/in-process-store.ts";

export async function runTestDag(given: Io, fileOrId: string, options: TestOptions): Promise<void> {
  const config = configOf(given, {}, []);
  const found = await findDag(config, fileOrId, options.dag, given.cwd);
  const { store, io } = await openInProcess(given, config);
  const { checkRunFits } = await import("@millrace/shared/params");
  checkRunFits(found.spec, options.conf ?? {});
  io.out(`${io.colors.bold(found.spec.dagId)}: ${found.spec.tasks.length} tasks\n`);

  const progress = createProgress(io, { write: io.out, isTty: io.isTty });
  const log = (taskId: string, level: LogLevel, message: string) => progress.print(logLine(io, taskId, level, message));
  const capture = captureOutput<string>((taskId, stream, line) =>
    log(taskId, stream === "stdout" ? "info" : "warn", line),
  );
  const stop = listenForStop();
  try {
    const artifact = {
      ...found.artifact,
      run: ((request, host) =>
        capture.within(nameOf(request), () => found.artifact.run(request, host))) as typeof found.artifact.run,
    };
    const result = await runInProcess(artifact, found.spec, {
      logicalDate: (options.logicalDate ?? new Date()).getTime(),
      // Read as JSON from the command line.
      conf: (options.conf ?? {}) as Record<string, Json>,
      store,
      concurrency: options.concurrency,
      maxXComBytes: config.core.max_xcom_bytes,
      maxMapLength: config.core.max_map_length,
      maxRetryDelay: config.core.max_task_retry_delay,
      signal: stop.signal,
      onLog: (task, level, message) => capture.outside(() => log(nameOf(task), level, message)),
      onChange: (changed, all) =>
        capture.outside(() => {
          progress.show(all.map((task) => ({ label: nameOf(task), state: task.state, note: noteOf(task) })));
          showError(io, progress, found, changed);
        }),
      ...(options.respectRetryDelay === true
        ? {
            waitForRetry: async (seconds: number, signal: AbortSignal) => {
              await sleep(seconds * 1000, undefined, { signal }).catch(() => undefined);
            },
          }
        : {}),
    });
    progress.end();
    await summarize(io, found, result);
    if (result.state === "failed") throw new Ended(result.wasAborted ? 130 : 1);
  } finally {
    capture.stop();
    stop.dispose();
  }
}

const logLine = (io: Io, taskId: string, level: LogLevel, message: string): string => {
  const shown = level === "error" ? io.colors.red(message) : level === "warn" ? io.colors.yellow(message) : message;
  return `${io.colors.dim(`${taskId} |`)} ${shown}`;
};

function showError(io: Io, progress: Progress, found: FoundDag, task: TestTask): void {
  const { state, error, tryNumber } = task;
  if (error === undefined || (state !== "failed" && state !== "up_for_retry")) return;
  const text = error.stack === undefined ? `${error.name}: ${error.message}` : found.mapStack(error.stack);
  const head = `${nameOf(task)} failed in try ${tryNumber}${state === "up_for_retry" ? ", to be tried again" : ""}`;
  progress.print(`${io.colors.red(head)}\n${text.trimEnd().replace(/^/gm, "  ")}`);
}

const noteOf = (task: TestTask): string | undefined =>
  [
    task.tryNumber > 1 ? `try ${task.tryNumber}` : undefined,
    task.durationMs === undefined || !isFinished(task.state) ? undefined : `${task.durationMs.toFixed(0)} ms`,
  ]
    .filter((part) => part !== undefined)
    .join(", ") || undefined;

const COLUMNS: readonly Column<TestTask>[] = [
  { key: "task", value: nameOf },
  { key: "state", value: (task) => task.state },
  { key: "tries", value: (task) => task.tryNumber },
  { key: "ms", value: (task) => task.durationMs, shown: (task) => task.durationMs?.toFixed(0) ?? "-" },
  {
    key: "why",
    value: (task) => task.error?.message ?? task.reason,
    shown: (task) => firstLine(task.error?.message ?? task.reason),
  },
];

const firstLine = (text: string | undefined): string => text?.split("\n")[0]?.slice(0, 100) ?? "";

async function summarize(io: Io, found: FoundDag, result: InProcessResult): Promise<void> {
  io.out("\n");
  await printList(io, "table", COLUMNS, result.tasks);
  const failed = result.tasks.filter((task) => task.state === "failed").map(nameOf);
  const colour = result.state === "success" ? io.colors.green : io.colors.red;
  const why =
    result.verdict.kind === "failed"
      ? result.verdict.reason === "task_failure"
        ? `: failed ${failed.join(", ")}`
        : `: nothing could go on: ${result.verdict.taskIds.join(", ")}`
      : result.wasAborted
        ? ": interrupted"
        : "";
  io.out(`\n${found.spec.dagId} ${colour(result.state)} in ${(result.durationMs / 1000).toFixed(2)} s${why}\n`);
}
