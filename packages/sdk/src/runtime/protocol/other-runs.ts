// Runs other than a handler's own: starting them, and asking how they are.
import type { Json } from "../../spec/index.ts";

/** Instants, ISO 8601. */
export interface PreviousRun {
  readonly dataIntervalStart: string | null;
  readonly dataIntervalEnd: string | null;
  readonly startDate: string | null;
  readonly endDate: string | null;
}

export interface TriggerDagRunRequest {
  readonly dagId: string;
  readonly runId?: string;
  readonly logicalDate?: string | null;
  readonly conf?: Readonly<Record<string, Json>>;
  readonly note?: string;
  /** A run of this id that exists is cleared and runs again. Default false: it is refused. */
  readonly resetDagRun?: boolean;
  /** Refuse when the DAG is paused. Default false: the run waits. */
  readonly failWhenDagIsPaused?: boolean;
}

export interface TriggeredDagRun {
  readonly dagId: string;
  readonly runId: string;
  /** `exists`: there was such a run, and it was left as it is. */
  readonly outcome: "created" | "reset" | "exists";
}

/** Runs of one DAG by logical date or by run id; of them the named tasks, groups, or the runs themselves. */
export interface ExternalStatesQuery {
  readonly dagId: string;
  readonly taskIds?: readonly string[];
  readonly taskGroupId?: string;
  readonly logicalDates?: readonly string[];
  readonly runIds?: readonly string[];
  /**
   * Reject, with a message that says what is missing, when the DAG, a task or the group does not exist. Default false:
   * there are no states of it.
   */
  readonly checkExistence?: boolean;
}
