import type { Json } from "../spec/index.ts";
import { eventsOf, OutletCollector, type AssetEvents, type OutletEvents } from "./asset-events.ts";
import type { RunRequest } from "./protocol.ts";

/** What a handler can know about the attempt that it is. Returned by {@link getContext}. */
export interface TaskContext {
  readonly dagId: string;
  /** With the prefixes of the groups around the task. */
  readonly taskId: string;
  readonly runId: string;
  /** 1 for the first try. */
  readonly tryNumber: number;
  /** How many retries are allowed, more after a clear: a failure is final when `tryNumber` is higher. Airflow's `max_tries`. */
  readonly maxTries: number;
  /** -1 unless the task is mapped. */
  readonly mapIndex: number;
  /** What the run is about: the start of its data interval. `null` for a run that was started without one. */
  readonly logicalDate: Date | null;
  readonly dataIntervalStart: Date | null;
  readonly dataIntervalEnd: Date | null;
  /** The earliest time at which the run was allowed to start. */
  readonly runAfter: Date;
  /** `scheduled`, `manual`, `backfill`, `asset_triggered` or `asset_materialization`. */
  readonly runType: string;
  /** For a run by key: which part of the data it is about. `null` for any other. */
  readonly partitionKey: string | null;
  /** The events that the run is made of, when assets started it. Airflow's `triggering_asset_events`. */
  readonly triggeringAssetEvents: AssetEvents;
  /** What the success of this task will say of its `outlets`: extra data, partition keys, and what an alias stands for. */
  readonly outletEvents: OutletEvents;
  /**
   * Names that the handler gives values to, for the `mapIndexTemplate` of its task, which is rendered again when it has
   * ended: `getContext().names["city"] = "Oslo"` for `"{{ city }}"`. Airflow's `context["city"] = "Oslo"`.
   */
  readonly names: Record<string, unknown>;
  /** What the run was started with. */
  readonly conf: Readonly<Record<string, Json>>;
  /** The DAG's params, overridden by `conf`. */
  readonly params: Readonly<Record<string, Json>>;
  /** Whether the value of this task decides how many instances another one has. */
  readonly hasMappedDependants: boolean;
  /** Aborted when the attempt has to stop (timeout, clear, mark, shutdown); `signal.reason` says why. */
  readonly signal: AbortSignal;
  /** `dag/run/task/map/try`: the same for every process that works on this try. */
  readonly idempotencyKey: string;
  /** `dag/run/task/map`: the same for every try, so that a retry can find what an earlier one began. */
  readonly stableIdempotencyKey: string;
}

/** What the context says beside what was asked for. */
export interface ContextOf {
  readonly outlets?: OutletCollector | undefined;
  readonly hasMappedDependants?: boolean;
}

export function contextOf(
  request: RunRequest,
  signal: AbortSignal,
  { outlets, hasMappedDependants = false }: ContextOf = {},
): TaskContext {
  const { dagId, runId, taskId, mapIndex, tryNumber } = request;
  const stableIdempotencyKey = [dagId, runId, taskId, mapIndex].join("/");
  const context = {
    dagId,
    taskId,
    runId,
    tryNumber,
    maxTries: request.maxTries,
    mapIndex,
    logicalDate: instant(request.logicalDate),
    dataIntervalStart: instant(request.dataIntervalStart),
    dataIntervalEnd: instant(request.dataIntervalEnd),
    runAfter: new Date(request.runAfter),
    runType: request.runType,
    partitionKey: request.partitionKey ?? null,
    conf: request.conf,
    params: request.params,
    hasMappedDependants,
    signal,
    idempotencyKey: `${stableIdempotencyKey}/${tryNumber}`,
    stableIdempotencyKey,
  };
  // Not enumerable: a copy of the context is data that a task can return.
  return Object.freeze(
    Object.defineProperties(context, {
      triggeringAssetEvents: { value: eventsOf(request.triggeringAssetEvents ?? []) },
      names: { value: {} },
      outletEvents: { value: outlets ?? new OutletCollector(taskId, [], undefined) },
    }) as TaskContext, // with those that were just defined
  );
}

function instant(iso: string | null): Date | null {
  return iso === null ? null : new Date(iso);
}
