// What the success of a task says of assets. Pure.
import type { OutletEvent, TaskOutcome } from "@millrace/sdk/runtime";
import type { TaskSpec } from "@millrace/sdk/spec";
import type { NewAssetEvent } from "./write-asset-events.ts";

/** Which task instance the events are of. */
export interface EventSource {
  readonly dagRunId: number;
  readonly dagId: string;
  readonly taskId: string;
  readonly runId: string;
  readonly mapIndex: number;
}

const NONE: readonly NewAssetEvent[] = [];

/** A task without outlets has none, whatever its process says. */
export function assetEventsOf(
  { dagRunId, dagId, taskId, runId, mapIndex }: EventSource,
  spec: TaskSpec,
  outcome: Extract<TaskOutcome, { kind: "success" }>,
): readonly NewAssetEvent[] {
  if (spec.outlets === undefined) return NONE;
  const events = outcome.assetEvents ?? spec.outlets.flatMap(plainEvent);
  return events.map(({ asset, alias, extra, partitionKey }) => ({
    ...{ dagRunId, dagId, taskId, runId, mapIndex, extra },
    ...(asset.name === undefined ? {} : { name: asset.name }),
    ...(asset.uri === undefined ? {} : { uri: asset.uri }),
    ...(alias === undefined ? {} : { alias }),
    ...(alias === undefined || asset.name === undefined || asset.uri === undefined
      ? {}
      : { asset: { ...asset, name: asset.name, uri: asset.uri } }),
    ...(partitionKey === undefined ? {} : { partitionKey }),
  }));
}

function plainEvent(use: NonNullable<TaskSpec["outlets"]>[number]): readonly OutletEvent[] {
  if ("alias" in use) return [];
  return [{ asset: "asset" in use ? use.asset : use.ref, extra: {} }];
}

const MAX_NAME = 1_500;
const MAX_KEY = 250;

/** Only what can be stored gets into a statement that others share. */
export function wrongAssetEvents(events: readonly NewAssetEvent[], maxBytes: number): string | undefined {
  for (const { name = "-", uri = "-", partitionKey = "-", extra } of events) {
    const isNamed = name !== "" && uri !== "" && name.length <= MAX_NAME && uri.length <= MAX_NAME;
    if (!isNamed) return `the name and the uri of an asset have 1 to ${MAX_NAME} characters`;
    if (partitionKey === "" || partitionKey.length > MAX_KEY) return `a partition key has 1 to ${MAX_KEY} characters`;
    const bytes = Buffer.byteLength(JSON.stringify(extra ?? {}));
    if (bytes > maxBytes) return `the extra of an event of ${name} takes ${bytes} bytes of JSON, more than ${maxBytes}`;
  }
  return undefined;
}
