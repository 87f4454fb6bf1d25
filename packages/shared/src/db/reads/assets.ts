// Assets, aliases and events for lists.
import { AppError } from "../../errors/index.ts";
import { matchPattern, oneOf, orderBy, within, type TimeRange } from "./filters.ts";
import { readPage, readRows, sql, type Page, type PageRequest, type Query, type Reader } from "./query.ts";

export interface AssetTaskRef {
  readonly dag_id: string;
  readonly task_id: string;
  readonly created_at: string;
  readonly updated_at: string;
}

export interface AssetRow {
  readonly id: number;
  readonly name: string;
  readonly uri: string;
  readonly group: string;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Some DAG declares it, and no other asset has its name or uri. */
  readonly isActive: boolean;
  readonly scheduledDags: readonly Omit<AssetTaskRef, "task_id">[];
  readonly producingTasks: readonly AssetTaskRef[];
  readonly consumingTasks: readonly AssetTaskRef[];
  readonly aliases: readonly { readonly id: number; readonly name: string; readonly group: string }[];
  readonly watchers: readonly { readonly name: string; readonly trigger_id: number; readonly created_date: string }[];
  readonly lastEventId: number | null;
  readonly lastEventTimestamp: Date | null;
}

const references = (table: string, as: string, more = "") => `coalesce((
  select jsonb_agg(jsonb_build_object('dag_id', s.dag_id, ${more}'created_at', s.created_at, 'updated_at', s.updated_at) order by s.dag_id)
  from ${table} s where s.asset_id = a.id), '[]') as ${as}`;

const COLUMNS = `a.*, exists (select from asset_active t where t.name = a.name and t.uri = a.uri) as is_active,
  ${references("dag_schedule_asset_reference", "scheduled_dags")},
  ${references("task_outlet_asset_reference", "producing_tasks", "'task_id', s.task_id, ")},
  ${references("task_inlet_asset_reference", "consuming_tasks", "'task_id', s.task_id, ")},
  coalesce((select jsonb_agg(jsonb_build_object('id', al.id, 'name', al.name, 'group', al."group") order by al.name)
    from asset_alias_asset l join asset_alias al on al.id = l.alias_id where l.asset_id = a.id), '[]') as aliases,
  coalesce((select jsonb_agg(jsonb_build_object('name', w.name, 'trigger_id', w.trigger_id, 'created_date', t.created_date) order by w.name)
    from asset_watcher w join trigger t on t.id = w.trigger_id where w.asset_id = a.id), '[]') as watchers,
  e.id as last_event_id, e.timestamp as last_event_timestamp`;

const withLastEvent = (query: Query): Query =>
  query.joinRaw(`left join lateral (
  select id, timestamp from asset_event where asset_id = a.id order by timestamp desc, id desc limit 1
) e on true`);

export interface AssetFilter extends PageRequest {
  readonly namePattern?: string | undefined;
  readonly uriPattern?: string | undefined;
  /** Of these DAGs, in their schedules, outlets or inlets. */
  readonly dagIds?: readonly string[] | undefined;
  /** Default true. */
  readonly onlyActive?: boolean | undefined;
  readonly orderBy?: readonly string[] | undefined;
}

const SORT_KEYS = { id: "a.id", name: "a.name", uri: "a.uri", created_at: "a.created_at", updated_at: "a.updated_at" };

export async function listAssets(db: Reader, filter: AssetFilter = {}): Promise<Page<AssetRow>> {
  const query = sql.from({ a: "asset" });
  matchPattern(query, "a.name", filter.namePattern);
  matchPattern(query, "a.uri", filter.uriPattern);
  if (filter.onlyActive !== false) {
    void query.whereRaw("exists (select from asset_active t where t.name = a.name and t.uri = a.uri)");
  }
  if (filter.dagIds !== undefined && filter.dagIds.length > 0) {
    void query.whereRaw(
      `a.id in (select asset_id from dag_schedule_asset_reference where dag_id = any (?)
        union select asset_id from task_outlet_asset_reference where dag_id = any (?)
        union select asset_id from task_inlet_asset_reference where dag_id = any (?))`,
      [[...filter.dagIds], [...filter.dagIds], [...filter.dagIds]],
    );
  }
  const order = orderBy(SORT_KEYS, filter.orderBy ?? ["id"], "a.id");
  return await readPage<AssetRow>(db, query, { columns: COLUMNS, order, joins: withLastEvent, pageFirst: "a" }, filter);
}

/** @throws AppError ASSET_NOT_FOUND */
export async function getAsset(db: Reader, id: number): Promise<AssetRow> {
  return await found(db, sql.from({ a: "asset" }).where("a.id", id), id);
}

/** By its name, its uri, or its id; of several an active one. @throws AppError ASSET_NOT_FOUND */
export async function findAsset(db: Reader, which: string): Promise<AssetRow> {
  const query = sql.from({ a: "asset" }).where((either) => {
    void either.where("a.name", which).orWhere("a.uri", which);
    if (/^\d{1,9}$/.test(which)) void either.orWhere("a.id", Number(which));
  });
  return await found(db, query, which);
}

async function found(db: Reader, query: Query, which: string | number): Promise<AssetRow> {
  const [row] = await readRows<AssetRow>(
    db,
    withLastEvent(query).select(sql.raw(COLUMNS)).orderByRaw("is_active desc, a.id").limit(1),
  );
  if (row === undefined) throw new AppError("ASSET_NOT_FOUND", { asset: which });
  return row;
}

export interface AssetAliasRow {
  readonly id: number;
  readonly name: string;
  readonly group: string;
}

export async function listAssetAliases(
  db: Reader,
  filter: PageRequest & { readonly namePattern?: string | undefined; readonly orderBy?: readonly string[] | undefined },
): Promise<Page<AssetAliasRow>> {
  const query = sql.from({ a: "asset_alias" });
  matchPattern(query, "a.name", filter.namePattern);
  const order = orderBy({ id: "a.id", name: "a.name", group: `a."group"` }, filter.orderBy ?? ["id"], "a.id");
  return await readPage<AssetAliasRow>(db, query, { columns: `a.id, a.name, a."group"`, order }, filter);
}

/** @throws AppError ASSET_ALIAS_NOT_FOUND */
export async function getAssetAlias(db: Reader, id: number): Promise<AssetAliasRow> {
  const [row] = await readRows<AssetAliasRow>(db, sql.from("asset_alias").where({ id }).select("id", "name", "group"));
  if (row === undefined) throw new AppError("ASSET_ALIAS_NOT_FOUND", { alias: id });
  return row;
}

export interface AssetEventItem {
  readonly id: number;
  readonly assetId: number;
  readonly uri: string;
  readonly name: string;
  readonly group: string;
  readonly extra: Readonly<Record<string, unknown>>;
  readonly sourceTaskId: string | null;
  readonly sourceDagId: string | null;
  readonly sourceRunId: string | null;
  readonly sourceMapIndex: number;
  readonly timestamp: Date;
  readonly partitionKey: string | null;
  readonly createdDagruns: readonly AssetRunRef[];
}

/** A run that an event is part of. */
export interface AssetRunRef {
  readonly run_id: string;
  readonly dag_id: string;
  readonly logical_date: string | null;
  readonly start_date: string | null;
  readonly end_date: string | null;
  readonly state: string;
  readonly data_interval_start: string | null;
  readonly data_interval_end: string | null;
  readonly partition_key: string | null;
}

export interface AssetEventFilter extends PageRequest {
  readonly assetId?: number | undefined;
  readonly sourceDagId?: string | undefined;
  readonly sourceTaskId?: string | undefined;
  readonly sourceRunId?: string | undefined;
  readonly sourceMapIndex?: number | undefined;
  readonly namePattern?: string | undefined;
  readonly timestamp?: TimeRange | undefined;
  readonly ids?: readonly number[] | undefined;
  /** Events that this run is made of. */
  readonly ofRun?: number | undefined;
  readonly orderBy?: readonly string[] | undefined;
}

const EVENT_SORT_KEYS = {
  ...{ id: "e.id", timestamp: "e.timestamp", source_dag_id: "e.source_dag_id", source_task_id: "e.source_task_id" },
  ...{ source_run_id: "e.source_run_id", source_map_index: "e.source_map_index" },
};

export async function listAssetEvents(db: Reader, filter: AssetEventFilter): Promise<Page<AssetEventItem>> {
  const query = sql.from({ e: "asset_event" }).joinRaw("join asset a on a.id = e.asset_id");
  if (filter.assetId !== undefined) void query.where("e.asset_id", filter.assetId);
  if (filter.sourceDagId !== undefined) void query.where("e.source_dag_id", filter.sourceDagId);
  if (filter.sourceTaskId !== undefined) void query.where("e.source_task_id", filter.sourceTaskId);
  if (filter.sourceRunId !== undefined) void query.where("e.source_run_id", filter.sourceRunId);
  if (filter.sourceMapIndex !== undefined) void query.where("e.source_map_index", filter.sourceMapIndex);
  if (filter.ofRun !== undefined) {
    void query.whereRaw("e.id in (select event_id from dagrun_asset_event where dag_run_id = ?)", [filter.ofRun]);
  }
  oneOf(query, "e.id", filter.ids);
  matchPattern(query, "a.name", filter.namePattern);
  within(query, "e.timestamp", filter.timestamp);
  const columns = `e.id, e.asset_id, a.uri, a.name, a."group", e.extra, e.source_task_id, e.source_dag_id, e.source_run_id,
    coalesce(e.source_map_index, -1) as source_map_index, e.timestamp, e.partition_key,
    coalesce((select jsonb_agg(jsonb_build_object('run_id', r.run_id, 'dag_id', r.dag_id, 'logical_date', r.logical_date,
      'start_date', r.start_date, 'end_date', r.end_date, 'state', r.state, 'data_interval_start', r.data_interval_start,
      'data_interval_end', r.data_interval_end, 'partition_key', r.partition_key) order by r.id)
      from dagrun_asset_event t join dag_run r on r.id = t.dag_run_id where t.event_id = e.id), '[]') as created_dagruns`;
  const order = orderBy(EVENT_SORT_KEYS, filter.orderBy ?? ["timestamp"], "e.id");
  return await readPage<AssetEventItem>(db, query, { columns, order }, filter);
}
