// What a child is told of an attempt that it is to run, or to render the options of.
import type { RunRequest, TriggerEvent, Waited } from "@millrace/sdk/runtime";
import type { Json } from "@millrace/sdk/spec";
import type { Config } from "@millrace/shared/config";
import { readRunEvents, type ClaimedAttempt, type Database } from "@millrace/shared/db";
import { AppError, messageOf } from "@millrace/shared/errors";
import type { DagGraph, TaskNode } from "@millrace/shared/model";
import { openWait, type Cipher, type Secrets } from "@millrace/shared/secrets";
import { largestXCom } from "@millrace/shared/xcoms";
import { isLatestRun } from "./is-latest-run.ts";
import type { Inputs } from "./read-inputs.ts";

export interface RequestDeps {
  readonly db: Database;
  readonly config: Pick<Config, "core" | "common_io">;
  readonly inputs: Inputs;
  readonly secrets: Pick<Secrets, "cipher">;
}

/** @throws NoElement when what the attempt is mapped over has nothing for its index */
export async function requestOf(
  { db, config, inputs: read, secrets }: RequestDeps,
  attempt: ClaimedAttempt,
  node: TaskNode,
  graph: DagGraph,
): Promise<RunRequest> {
  const { spec } = node;
  const { inputs, lazyInputs } = await read.of(attempt, node, graph);
  const iso = (date: Date | null) => date?.toISOString() ?? null;
  const conf = attempt.conf as Record<string, Json>;
  return {
    dagId: attempt.dagId,
    taskId: attempt.taskId,
    runId: attempt.runId,
    mapIndex: attempt.mapIndex,
    tryNumber: attempt.tryNumber,
    maxTries: attempt.maxTries,
    logicalDate: iso(attempt.logicalDate),
    dataIntervalStart: iso(attempt.dataIntervalStart),
    dataIntervalEnd: iso(attempt.dataIntervalEnd),
    runAfter: attempt.runAfter.toISOString(),
    runType: attempt.runType,
    conf,
    params: { ...graph.spec.params, ...conf },
    inputs,
    ...(Object.keys(lazyInputs).length === 0 ? {} : { lazyInputs }),
    ...(attempt.partitionKey === null ? {} : { partitionKey: attempt.partitionKey }),
    ...(attempt.runType === "asset_triggered"
      ? { triggeringAssetEvents: await readRunEvents(db, attempt.dagRunId) }
      : {}),
    maxXComBytes: config.core.max_xcom_bytes,
    maxStoredXComBytes: largestXCom(config),
    ...(attempt.nextMethod === null ? {} : { waited: waitedOf(attempt, secrets) }),
    ...(spec.operator === "latest_only" ? { isLatestRun: await isLatestRun(db, attempt, graph.spec.schedule) } : {}),
  };
}

/** What the claim says of the waiting of this try. */
function waitedOf(attempt: ClaimedAttempt, { cipher }: Pick<Secrets, "cipher">): Waited {
  const { event, state = null, reschedules = 0 } = whatWasKept(attempt, cipher);
  return { seconds: attempt.waitedSeconds, reschedules, ...(event === undefined ? {} : { resumed: { event, state } }) };
}

function whatWasKept(attempt: ClaimedAttempt, cipher: Cipher): Partial<WaitingRecord> {
  try {
    // As the statements of waiting wrote it.
    return openWait(cipher, attempt.nextKwargs ?? {}, attempt) as Partial<WaitingRecord>;
  } catch (error) {
    const what = `What task ${attempt.taskId} kept while it waited`;
    throw new AppError("SECRET_UNREADABLE", { what, cause: messageOf(error) }, { cause: error });
  }
}

interface WaitingRecord {
  readonly event: TriggerEvent;
  readonly state: Json;
  readonly reschedules: number;
}
