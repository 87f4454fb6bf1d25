import type { AssetEventItem, AssetRow } from "@millrace/shared/db";
import type { Column } from "../../output/format.ts";

const nameTask = ({ dag_id: dagId, task_id: taskId }: AssetRow["producingTasks"][number]) => `${dagId}.${taskId}`;

export const ASSET_COLUMNS: readonly Column<AssetRow>[] = [
  { key: "id", value: (asset) => asset.id, for: "programs" },
  { key: "name", value: (asset) => asset.name },
  { key: "uri", value: (asset) => asset.uri },
  { key: "group", value: (asset) => asset.group },
  { key: "active", value: (asset) => asset.isActive, for: "programs" },
  { key: "extra", value: (asset) => asset.extra, for: "programs" },
  {
    key: "updated_by",
    value: (asset) => asset.producingTasks.map(nameTask),
    shown: (asset) => asset.producingTasks.map(nameTask).join(", "),
  },
  {
    key: "starts",
    value: (asset) => asset.scheduledDags.map((dag) => dag.dag_id),
    shown: (asset) => asset.scheduledDags.map((dag) => dag.dag_id).join(", "),
  },
  { key: "last_event", value: (asset) => asset.lastEventTimestamp },
];

const sourceOf = ({ sourceDagId, sourceTaskId }: AssetEventItem): string | null =>
  sourceDagId === null ? null : `${sourceDagId}.${sourceTaskId ?? ""}`;
const startedBy = (event: AssetEventItem) => event.createdDagruns.map((run) => `${run.dag_id} ${run.run_id}`);

export const EVENT_COLUMNS: readonly Column<AssetEventItem>[] = [
  { key: "id", value: (event) => event.id },
  { key: "asset", value: (event) => event.name },
  { key: "timestamp", value: (event) => event.timestamp },
  { key: "source", value: sourceOf },
  { key: "source_run_id", value: (event) => event.sourceRunId, for: "programs" },
  { key: "partition_key", value: (event) => event.partitionKey },
  { key: "extra", value: (event) => event.extra },
  { key: "runs", value: startedBy, shown: (event) => startedBy(event).join(", ") },
];
