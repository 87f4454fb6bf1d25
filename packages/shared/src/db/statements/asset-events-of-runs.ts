// Events as handlers see them. Their extras are counted first, and stay in Postgres when there is more of them than a worker
// should take into its memory. Indexes: the key of dagrun_asset_event, idx_asset_event_asset_id_timestamp.
import type { AssetEventData } from "@millrace/sdk/runtime";
import { defineStatement } from "../statement.ts";

export interface CountedAssetEvent extends AssetEventData {
  /** Of the extras of all rows together, as JSON. Where it is more than was allowed, `extra` is null. */
  readonly bytes: number;
}

const COLUMNS = `e.id, a.name, a.uri, a."group", to_char(e.timestamp at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as timestamp,
  case when e.bytes <= $1 then e.extra end as extra, e.bytes,
  e.source_dag_id as "sourceDagId", e.source_task_id as "sourceTaskId", e.source_run_id as "sourceRunId",
  coalesce(e.source_map_index, -1) as "sourceMapIndex", e.partition_key as "partitionKey",
  array(select al.name from asset_alias_asset_event l join asset_alias al on al.id = l.alias_id where l.event_id = e.id) as aliases`;

const counted = (events: string): string =>
  `select e.*, sum(octet_length(e.extra::text)) over ()::float8 as bytes from (${events}) e`;

/** Those that a run is made of. */
export const eventsOfRun = defineStatement<readonly [maxBytes: number, dagRunId: number], CountedAssetEvent>({
  name: "asset-events-of-run",
  sql: `
select ${COLUMNS}
from (${counted(`select e.* from dagrun_asset_event t join asset_event e on e.id = t.event_id where t.dag_run_id = $2`)}) e
join asset a on a.id = e.asset_id
order by e.timestamp, e.id`,
});

type Asked = readonly [
  maxBytes: number,
  name: string | null,
  uri: string | null,
  alias: string | null,
  after: string | null,
  before: string | null,
  limit: number,
];

const eventsInOrder = (direction: "asc" | "desc") => {
  const found = `
  select e.*
  from asset a
  join asset_event e on e.asset_id = a.id
  where ($2::text is null or a.name = $2) and ($3::text is null or a.uri = $3)
    and ($4::text is null or exists (
      select from asset_alias_asset_event l join asset_alias al on al.id = l.alias_id where l.event_id = e.id and al.name = $4
    ))
    and ($4::text is null or a.id in (select l.asset_id from asset_alias_asset l join asset_alias al on al.id = l.alias_id where al.name = $4))
    and ($5::timestamptz is null or e.timestamp >= $5) and ($6::timestamptz is null or e.timestamp <= $6)
  order by e.timestamp ${direction}, e.id ${direction} limit $7`;
  return defineStatement<Asked, CountedAssetEvent>({
    name: `asset-events-${direction}`,
    sql: `
select ${COLUMNS}
from (${counted(found)}) e
join asset a on a.id = e.asset_id
order by e.timestamp ${direction}, e.id ${direction}`,
  });
};

export const oldestEvents = eventsInOrder("asc");
export const newestEvents = eventsInOrder("desc");
