import { Type } from "typebox";
import { Instant, Ints, Nullable, NullableInstant, Paging, Sorting, Text, Texts } from "./common.ts";
import { DagVersion } from "./dags.ts";

export const TaskInstance = Type.Object({
  id: Type.String(),
  task_id: Type.String(),
  dag_id: Type.String(),
  dag_run_id: Type.String(),
  map_index: Type.Integer(),
  logical_date: NullableInstant,
  run_after: Instant,
  start_date: NullableInstant,
  end_date: NullableInstant,
  duration: Nullable(Type.Number()),
  /** Null: nothing was decided yet. */
  state: Nullable(Type.String()),
  try_number: Type.Integer(),
  max_tries: Type.Integer(),
  task_display_name: Type.String(),
  dag_display_name: Type.String(),
  hostname: Nullable(Type.String()),
  unixname: Nullable(Type.String()),
  pool: Type.String(),
  pool_slots: Type.Integer(),
  queue: Nullable(Type.String()),
  priority_weight: Nullable(Type.Integer()),
  operator: Nullable(Type.String()),
  operator_name: Nullable(Type.String()),
  queued_when: NullableInstant,
  scheduled_when: NullableInstant,
  pid: Nullable(Type.Integer()),
  executor: Nullable(Type.String()),
  executor_config: Type.String(),
  note: Nullable(Type.String()),
  rendered_map_index: Nullable(Type.String()),
  rendered_fields: Type.Record(Type.String(), Type.Unknown()),
  trigger: Type.Null(),
  triggerer_job: Type.Null(),
  dag_version: Nullable(DagVersion),
});

export const TaskInstanceCollection = Type.Object({
  task_instances: Type.Array(TaskInstance),
  total_entries: Type.Integer(),
});

export const TaskInstanceListQuery = Type.Object({
  ...Paging,
  ...Sorting,
  task_id: Text,
  task_display_name_pattern: Text,
  dag_id_pattern: Text,
  run_id_pattern: Text,
  state: Texts,
  pool: Texts,
  queue: Texts,
  operator: Texts,
  map_index: Ints,
});

export const LogLine = Type.Object(
  {
    timestamp: Type.Optional(Type.String()),
    level: Type.Optional(Type.String()),
    logger: Type.Optional(Type.String()),
    event: Type.String(),
  },
  { additionalProperties: true },
);

export const LogPage = Type.Object({
  content: Type.Array(LogLine),
  /** Null: this was the end of a finished try. With a token and no content: the try goes on, ask again later. */
  continuation_token: Nullable(Type.String()),
  /** Where this page begins and how long the log is now, in bytes. */
  start: Type.Integer(),
  size: Type.Integer(),
});

const XComKey = {
  key: Type.String(),
  timestamp: Instant,
  logical_date: NullableInstant,
  map_index: Type.Integer(),
  task_id: Type.String(),
  dag_id: Type.String(),
  run_id: Type.String(),
  dag_display_name: Type.String(),
  task_display_name: Type.String(),
  run_after: Instant,
};
export const XComEntry = Type.Object(XComKey);
export const XComValue = Type.Object({ ...XComKey, value: Type.Unknown() });
export const XComCollection = Type.Object({ xcom_entries: Type.Array(XComEntry), total_entries: Type.Integer() });
