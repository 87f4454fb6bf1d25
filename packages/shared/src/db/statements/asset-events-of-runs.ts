// Events as handlers see them. Indexes: the key of dagrun_asset_event, idx_asset_event_asset_id_timestamp.
import type { AssetEventData } from "@millrace/sdk/runtime";
import { defineStatement } from "../statement.ts";

const COLUMNS = `e.id, a.name, a.uri, a."group", to_char(e.timestamp at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as timestamp,
  e.extra, e.source_dag_id as "sourceDagId", e.source_task_id as "sourceTaskId", e.source_run_id as "sourceRunId",
  coalesce(e.source_map_index, -1) as "sourceMapIndex", e.partition_key as "partitionKey",
  array(select al.name from asset_alias_asset_event l join asset_alias al on al.id = l.alias_id where l.event_id = e.id) as aliases`;

/** Those that a run is made of. */
export const eventsOfRun = defineStatement<readonly [dagRunId: number], AssetEventData>({
  name: "asset-events-of-run",
  sql: `
select ${COLUMNS}
from dagrun_asset_event t join asset_event e on e.id = t.event_id join asset a on a.id = e.asset_id
where t.dag_run_id = $1 order by e.timestamp, e.id`,
});

type Asked = readonly [
  name: string | null,
  uri: string | null,
  alias: string | null,
  after: string | null,
  before: string | null,
  limit: number,
];

const eventsInOrder = (direction: "asc" | "desc") =>
  defineStatement<Asked, AssetEventData>({
    name: `asset-events-${direction}`,
    sql: `
select ${COLUMNS}
from asset a
join asset_event e on e.asset_id = a.id
where ($1::text is null or a.name = $1) and ($2::text is null or a.uri = $2)
  and ($3::text is null or exists (
    select from asset_alias_asset_event l join asset_alias al on al.id = l.alias_id where l.event_id = e.id and al.name = $3
  ))
  and ($3::text is null or a.id in (select l.asset_id from asset_alias_asset l join asset_alias al on al.id = l.alias_id where al.name = $3))
  and ($4::timestamptz is null or e.timestamp >= $4) and ($5::timestamptz is null or e.timestamp <= $5)
order by e.timestamp ${direction}, e.id ${direction} limit $6`,
  });

export const oldestEvents = eventsInOrder("asc");
export const newestEvents = eventsInOrder("desc");
