// Events of assets, for all waits whose poll is due, oldest first and a hundred of each at most. The waits come as one JSON
// array, each with `name` or `uri` or both, and `afterMs`, milliseconds since 1970: only later events count. Rows name the
// wait by its place. Index: idx_asset_event_asset_id_timestamp.
import type { Json } from "@millrace/sdk/spec";
import { defineStatement } from "../statement.ts";

export interface AssetEventRow {
  readonly place: number;
  readonly id: number;
  readonly name: string;
  readonly uri: string;
  /** ISO 8601 in UTC. */
  readonly timestamp: string;
  readonly extra: Json;
  readonly sourceDagId: string | null;
  readonly sourceTaskId: string | null;
  readonly sourceRunId: string | null;
  readonly sourceMapIndex: number;
}

export const waitedAssetEvents = defineStatement<readonly [waits: string], AssetEventRow>({
  name: "waited-asset-events",
  sql: `
with asked as materialized (
  select w.place::int - 1 as place, w.wait->>'name' as name, w.wait->>'uri' as uri,
    to_timestamp((w.wait->>'afterMs')::float8 / 1000) as after
  from jsonb_array_elements($1::jsonb) with ordinality as w(wait, place)
)
select q.place, e.id, a.name, a.uri, to_char(e.timestamp at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as timestamp,
  e.extra, e.source_dag_id as "sourceDagId", e.source_task_id as "sourceTaskId", e.source_run_id as "sourceRunId",
  coalesce(e.source_map_index, -1) as "sourceMapIndex"
from asked q
join asset a on (q.name is null or a.name = q.name) and (q.uri is null or a.uri = q.uri)
cross join lateral (
  select * from asset_event where asset_id = a.id and timestamp > q.after order by timestamp, id limit 100
) e
order by q.place, e.timestamp, e.id`,
});
