// What people import to test their DAGs, and what `millrace dags test` and `dags simulate` are made of. It needs the
// deciders of @millrace/shared/model, so it is no part of a DAG's bundle and a project of its own.
export { captureOutput, type OutputCapture } from "./in-process/capture-output.ts";
export { nameOf } from "./in-process/mapped-tasks.ts";
export { MemoryStore } from "./in-process/memory-store.ts";
export { testArtifact } from "./in-process/test-artifact.ts";
export { runOneTask } from "./in-process/run-one-task.ts";
export { runInProcess } from "./in-process/run-in-process.ts";
export type { InProcessOptions, InProcessResult, LogLevel, TestTask } from "./in-process/test-run.ts";
export type {
  OutcomeRule,
  SimulatedAttempt,
  SimulatedFault,
  SimulatedOutcome,
  SimulatedState,
  SimulatedWait,
  SimulateOptions,
} from "./simulate/options.ts";
export type { WaitReason } from "./simulate/recorder.ts";
export type {
  SimulatedRun,
  SimulatedTask,
  SimulatedTry,
  SimulatedWaitSpan,
  SimulationResult,
  SimulationSummary,
} from "./simulate/result.ts";
export { simulate } from "./simulate/simulate.ts";
export type { TimelineOptions } from "./simulate/timeline.ts";
