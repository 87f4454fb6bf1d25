// What a callback is told, made of its row, its run and the DAG version that the run had then.
import type { CallbackRequest } from "@millrace/sdk/runtime";
import type { Json } from "@millrace/sdk/spec";
import type { ClaimedCallback, DagVersions } from "@millrace/shared/db";

/** The version is needed for the params only; one that is gone leaves those of the run. */
export async function callbackRequest(
  callback: ClaimedCallback,
  versions: DagVersions,
  maxXComBytes: number,
): Promise<CallbackRequest> {
  const iso = (date: Date | null) => date?.toISOString() ?? null;
  const { versionId, reason, maxTries = 0 } = callback.data;
  const graph = versionId === null ? undefined : (await versions.load([versionId])).get(versionId);
  const conf = callback.conf as Record<string, Json>;
  return {
    key: callback.id,
    kind: callback.kind,
    dagId: callback.dagId,
    taskId: callback.taskId,
    runId: callback.runId,
    mapIndex: callback.mapIndex,
    tryNumber: callback.tryNumber,
    maxTries,
    logicalDate: iso(callback.logicalDate),
    dataIntervalStart: iso(callback.dataIntervalStart),
    dataIntervalEnd: iso(callback.dataIntervalEnd),
    runAfter: callback.runAfter.toISOString(),
    runType: callback.runType,
    runState: callback.runState,
    conf,
    params: { ...graph?.spec.params, ...conf },
    maxXComBytes,
    reason,
    error: callback.kind === "onFailure" || callback.kind === "onRetry" ? errorOf(reason) : null,
  };
}

/** A row keeps an error as `Name: message`; other reasons are sentences. */
function errorOf(reason: string | null): { readonly name: string; readonly message: string } {
  const [, name = "TaskFailed", message = reason ?? "the task failed"] =
    /^([A-Z]\w*): ([^]*)$/.exec(reason ?? "") ?? [];
  return { name, message };
}
