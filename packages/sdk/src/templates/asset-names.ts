// Airflow's `triggering_asset_events`: the events that a run is made of, by the uri of their asset, oldest first.
import type { AssetEvent } from "../runtime/asset-events.ts";
import type { RunScope } from "../runtime/run-scope.ts";
import { DateValue } from "./date-value.ts";
import { fromData } from "./from-data.ts";
import { Names, type Value } from "./values.ts";

export function triggeringEvents({ context }: RunScope): Value {
  const byUri = new Map<string, Value[]>();
  for (const event of context.triggeringAssetEvents.all) {
    const { uri } = event.asset;
    byUri.set(uri, [...(byUri.get(uri) ?? []), eventNames(event)]);
  }
  return byUri;
}

const eventNames = ({ asset, timestamp, extra, source, partitionKey }: AssetEvent): Names =>
  new Names("asset event", {
    asset: new Names("asset", { ...asset }),
    timestamp: new DateValue(timestamp),
    extra: fromData(extra),
    source_dag_id: source?.dagId ?? null,
    source_task_id: source?.taskId ?? null,
    source_run_id: source?.runId ?? null,
    source_map_index: source?.mapIndex ?? -1,
    partition_key: partitionKey,
  });
