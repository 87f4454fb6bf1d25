import { Type } from "typebox";
import { Flag, Instant, Nullable, NullableInstant, Paging, rangeOf, Sorting, Text, Texts } from "./common.ts";

const INT = 2_147_483_647;
const AnId = Type.Integer({ minimum: 0, maximum: INT });
const Key = Type.String({ minLength: 1, maxLength: 250 });
const Data = Type.Record(Type.String(), Type.Unknown());

export const AssetPath = Type.Object({ asset_id: AnId });
export const AssetStatePath = Type.Object({ asset_id: AnId, key: Type.String({ minLength: 1, maxLength: 512 }) });
export const AssetStateBody = Type.Object({ value: Type.Unknown() }, { additionalProperties: false });
export const AssetState = Type.Object({ key: Type.String(), value: Type.Unknown(), updated_at: Instant });
export const AssetStateCollection = Type.Object({
  asset_states: Type.Array(AssetState),
  total_entries: Type.Integer(),
});
export const AliasPath = Type.Object({ asset_alias_id: AnId });
export const DagAssetPath = Type.Object({ dag_id: Key, asset_id: AnId });

export const AssetListQuery = Type.Object({
  ...Paging,
  ...Sorting,
  name_pattern: Text,
  uri_pattern: Text,
  dag_ids: Texts,
  only_active: Flag,
});
export const AliasListQuery = Type.Object({ ...Paging, ...Sorting, name_pattern: Text });
export const EventListQuery = Type.Object({
  ...Paging,
  ...Sorting,
  ...rangeOf("timestamp"),
  asset_id: Type.Optional(AnId),
  source_dag_id: Text,
  source_task_id: Text,
  source_run_id: Text,
  source_map_index: Type.Optional(Type.Integer({ minimum: -1, maximum: INT })),
  name_pattern: Text,
});
export const BeforeQuery = Type.Object({ before: Type.Optional(Instant) });

export const CreateEventBody = Type.Object(
  { asset_id: AnId, partition_key: Type.Optional(Nullable(Key)), extra: Type.Optional(Data) },
  { additionalProperties: false },
);
export const MaterializeBody = Type.Optional(
  Nullable(
    Type.Object(
      {
        dag_run_id: Type.Optional(Nullable(Key)),
        data_interval_start: Type.Optional(NullableInstant),
        data_interval_end: Type.Optional(NullableInstant),
        logical_date: Type.Optional(NullableInstant),
        run_after: Type.Optional(NullableInstant),
        conf: Type.Optional(Nullable(Data)),
        note: Type.Optional(Nullable(Type.String({ maxLength: 1_000 }))),
        partition_key: Type.Optional(Nullable(Key)),
      },
      { additionalProperties: false },
    ),
  ),
);

const DagReference = Type.Object({ dag_id: Type.String(), created_at: Instant, updated_at: Instant });
const TaskReference = Type.Object({
  dag_id: Type.String(),
  task_id: Type.String(),
  created_at: Instant,
  updated_at: Instant,
});

export const AssetAlias = Type.Object({ id: Type.Integer(), name: Type.String(), group: Type.String() });
export const AssetAliasCollection = Type.Object({
  asset_aliases: Type.Array(AssetAlias),
  total_entries: Type.Integer(),
});

export const Asset = Type.Object({
  id: Type.Integer(),
  name: Type.String(),
  uri: Type.String(),
  group: Type.String(),
  extra: Nullable(Data),
  created_at: Instant,
  updated_at: Instant,
  scheduled_dags: Type.Array(DagReference),
  producing_tasks: Type.Array(TaskReference),
  consuming_tasks: Type.Array(TaskReference),
  aliases: Type.Array(AssetAlias),
  watchers: Type.Array(Type.Object({ name: Type.String(), trigger_id: Type.Integer(), created_date: Instant })),
  last_asset_event: Nullable(Type.Object({ id: Nullable(Type.Integer()), timestamp: NullableInstant })),
});
export const AssetCollection = Type.Object({ assets: Type.Array(Asset), total_entries: Type.Integer() });

export const AssetEvent = Type.Object({
  id: Type.Integer(),
  asset_id: Type.Integer(),
  uri: Nullable(Type.String()),
  name: Nullable(Type.String()),
  group: Nullable(Type.String()),
  extra: Nullable(Data),
  source_task_id: Nullable(Type.String()),
  source_dag_id: Nullable(Type.String()),
  source_run_id: Nullable(Type.String()),
  source_map_index: Type.Integer(),
  created_dagruns: Type.Array(
    Type.Object({
      run_id: Type.String(),
      dag_id: Type.String(),
      logical_date: NullableInstant,
      start_date: NullableInstant,
      end_date: NullableInstant,
      state: Type.String(),
      data_interval_start: NullableInstant,
      data_interval_end: NullableInstant,
      partition_key: Nullable(Type.String()),
    }),
  ),
  timestamp: Instant,
  partition_key: Nullable(Type.String()),
});
export const AssetEventCollection = Type.Object({
  asset_events: Type.Array(AssetEvent),
  total_entries: Type.Integer(),
});

export const QueuedEvent = Type.Object({
  dag_id: Type.String(),
  asset_id: Type.Integer(),
  created_at: Instant,
  dag_display_name: Type.String(),
});
export const QueuedEventCollection = Type.Object({
  queued_events: Type.Array(QueuedEvent),
  total_entries: Type.Integer(),
});
