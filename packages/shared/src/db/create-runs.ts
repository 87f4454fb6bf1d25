// Creates runs with their task instances, pinned to a DAG version. The only writer of new dag_run and task_instance rows:
// the scheduler, the API and the CLI all come through here.
import { isWithinDates, runLane, type DagGraph, type Interval, type RunType, type TaskNode } from "../model/index.ts";
import type { Queryable } from "./database.ts";
import { newId } from "./new-id.ts";
import { insertRuns, type InsertedRun } from "./statements/insert-runs.ts";
import { insertTaskInstances } from "./statements/insert-task-instances.ts";

export interface NewRun {
  readonly graph: DagGraph;
  readonly versionId: string;
  readonly runId: string;
  readonly runType: RunType;
  /** Milliseconds since the epoch, as every instant here. */
  readonly logicalDate: number | null;
  readonly interval: Interval | null;
  /** Null: the end of the interval, else the logical date, else now. */
  readonly runAfter: number | null;
  readonly conf: Readonly<Record<string, unknown>>;
  readonly triggeredBy: "timetable" | "rest_api" | "cli" | "ui" | "operator" | "asset" | "backfill" | "test";
  readonly user: string | null;
  /** Of the backfill that it belongs to, for a run of that type. */
  readonly backfillId?: number;
  /** Which part of the data it is about, for a run by key. */
  readonly partitionKey?: string;
}

/** Gives back those created; one whose run id or scheduled logical date exists already is not among them. */
export async function createRuns(tx: Queryable, runs: readonly NewRun[]): Promise<InsertedRun[]> {
  const date = (instant: number | null | undefined) =>
    instant === null || instant === undefined ? null : new Date(instant);
  const created = await tx.run(insertRuns, [
    runs.map((run) => run.graph.spec.dagId),
    runs.map((run) => run.runId),
    runs.map((run) => run.runType),
    runs.map((run) => date(run.logicalDate)),
    runs.map((run) => date(run.interval?.start)),
    runs.map((run) => date(run.interval?.end)),
    runs.map((run) => date(run.runAfter)),
    runs.map((run) => JSON.stringify(run.conf)),
    runs.map((run) => run.triggeredBy.toUpperCase()),
    runs.map((run) => run.user),
    runs.map((run) => run.versionId),
    runs.map((run) => run.graph.spec.dagrunTimeout ?? null),
    runs.map((run) => run.graph.spec.callbacks.join()),
    runs.map((run) => run.backfillId ?? null),
    runs.map((run) => run.partitionKey ?? null),
  ]);
  const keyOf = (run: { dagId: string; runId: string }) => `${run.dagId}\n${run.runId}`;
  const byKey = new Map(runs.map((run) => [keyOf({ dagId: run.graph.spec.dagId, runId: run.runId }), run]));
  const rows = created.flatMap((inserted) => {
    const run = byKey.get(keyOf(inserted));
    if (run === undefined) return [];
    return [...run.graph.tasks.values()]
      .filter((node) => isWithinDates(node.spec, run))
      .map((node) => ({
        dagRunId: inserted.id,
        node,
        lane: runLane(node.lane, node.spec, inserted.runId),
      }));
  });
  await createTaskInstances(tx, rows);
  return created;
}

export interface NewTaskInstance {
  readonly dagRunId: number;
  readonly node: TaskNode;
  readonly lane: string;
}

/** In state none, for runs that exist. */
export async function createTaskInstances(tx: Queryable, rows: readonly NewTaskInstance[]): Promise<void> {
  if (rows.length > 0) {
    await tx.run(insertTaskInstances, [
      rows.map(() => newId()),
      rows.map((row) => row.dagRunId),
      rows.map((row) => row.node.spec.taskId),
      rows.map((row) => row.node.spec.retries),
      rows.map((row) => row.node.spec.pool),
      rows.map((row) => row.node.spec.poolSlots),
      rows.map((row) => row.node.spec.queue),
      rows.map((row) => row.lane),
      rows.map((row) => row.node.priorityWeight),
      rows.map((row) => row.node.spec.operator),
      rows.map((row) => row.node.spec.taskDisplayName ?? row.node.spec.taskId),
      rows.map((row) => row.node.spec.callbacks.join()),
    ]);
  }
}
