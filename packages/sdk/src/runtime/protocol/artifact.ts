// What a bundled DAG file offers.
import type { DagSpec } from "../../spec/index.ts";
import type { CallbackOutcome, CallbackRequest } from "./callbacks.ts";
import type { RunHost } from "./host.ts";
import type { RenderOutcome, TaskOutcome } from "./task-outcome.ts";
import type { PlanAnswer, PlanRequest } from "./timetable.ts";
import type { TriggerOutcome, TriggerRunRequest } from "./triggers.ts";
import type { RunRequest } from "./run-request.ts";

/** The export named `artifact` of every bundled DAG file. */
export interface Artifact {
  readonly protocol: number;
  /** Every DAG that the file constructed. Never runs a handler. */
  dags(): readonly DagReading[];
  /** Runs one handler to its end. Never rejects: whatever goes wrong is in the outcome. */
  run(request: RunRequest, host: RunHost): Promise<TaskOutcome>;
  /**
   * Runs the callbacks of one kind, of a task or of a DAG. Never rejects. Absent in bundles that are older than
   * callbacks.
   */
  runCallback?(request: CallbackRequest, host: RunHost): Promise<CallbackOutcome>;
  /**
   * Runs one trigger of the file, in a triggerer, to its event. Never rejects. Absent in bundles that are older than
   * triggers.
   */
  runTrigger?(request: TriggerRunRequest, host: RunHost): Promise<TriggerOutcome>;
  /** Asks the timetable of a DAG for its next runs. Never throws. Absent in bundles that are older than timetables. */
  planRuns?(request: PlanRequest): PlanAnswer;
  /** Renders the template fields of a task, and runs nothing. Never rejects. Absent in bundles older than templates. */
  render?(request: RunRequest, host: RunHost): Promise<RenderOutcome>;
}

/** A DAG as read, or every reason why it could not be. */
export type DagReading =
  | { readonly dagId: string; readonly spec: DagSpec }
  | { readonly dagId: string; readonly problems: readonly DagProblem[] };

export interface DagProblem {
  readonly message: string;
  /** Where in the user's file, when known: a stack line of the bundle, still to be source-mapped. */
  readonly stack?: string;
}
