import { Type } from "typebox";
import { Flag, Instant, Nullable, NullableInstant, Paging, Sorting, Text, Texts } from "./common.ts";

export const RunState = Type.Union([
  Type.Literal("queued"),
  Type.Literal("running"),
  Type.Literal("success"),
  Type.Literal("failed"),
]);

export const Dag = Type.Object({
  dag_id: Type.String(),
  dag_display_name: Type.String(),
  is_paused: Type.Boolean(),
  is_stale: Type.Boolean(),
  last_parsed_time: NullableInstant,
  last_parse_duration: Nullable(Type.Number()),
  last_expired: NullableInstant,
  bundle_name: Nullable(Type.String()),
  bundle_version: Nullable(Type.String()),
  relative_fileloc: Nullable(Type.String()),
  fileloc: Type.String(),
  description: Nullable(Type.String()),
  timetable_summary: Nullable(Type.String()),
  timetable_description: Nullable(Type.String()),
  timetable_partitioned: Type.Boolean(),
  tags: Type.Array(Type.Object({ name: Type.String(), dag_id: Type.String(), dag_display_name: Type.String() })),
  max_active_tasks: Type.Integer(),
  max_active_runs: Nullable(Type.Integer()),
  max_consecutive_failed_dag_runs: Type.Integer(),
  has_task_concurrency_limits: Type.Boolean(),
  has_import_errors: Type.Boolean(),
  next_dagrun_logical_date: NullableInstant,
  next_dagrun_data_interval_start: NullableInstant,
  next_dagrun_data_interval_end: NullableInstant,
  next_dagrun_run_after: NullableInstant,
  allowed_run_types: Nullable(Type.Array(Type.String())),
  owners: Type.Array(Type.String()),
  file_token: Type.String(),
});

/** What a form that starts a run needs: of each param its value unless another is given, and its JSON Schema. */
export const DagDetails = Type.Object({
  ...Dag.properties,
  params: Type.Record(
    Type.String(),
    Type.Object({ value: Type.Unknown(), description: Nullable(Type.String()), schema: Type.Unknown() }),
  ),
  doc_md: Nullable(Type.String()),
});

export const DagCollection = Type.Object({ dags: Type.Array(Dag), total_entries: Type.Integer() });

export const DagListQuery = Type.Object({
  ...Paging,
  ...Sorting,
  dag_id_pattern: Text,
  dag_display_name_pattern: Text,
  paused: Flag,
  has_import_errors: Flag,
  tags: Texts,
  tags_match_mode: Type.Optional(Type.Union([Type.Literal("any"), Type.Literal("all")])),
  owners: Texts,
  exclude_stale: Flag,
  last_dag_run_state: Type.Optional(RunState),
});

export const DagPatch = Type.Object({ is_paused: Type.Boolean() }, { additionalProperties: false });

/** One mark of a DAG's last runs. */
export const RecentRun = Type.Object({
  dag_run_id: Type.String(),
  state: RunState,
  run_after: Instant,
  start_date: NullableInstant,
  end_date: NullableInstant,
});

/** A line of the DAG list as the UI shows it. */
export const DagLine = Type.Intersect([Dag, Type.Object({ recent_runs: Type.Array(RecentRun) })]);
export const DagLines = Type.Object({ dags: Type.Array(DagLine), total_entries: Type.Integer() });

export const DagSource = Type.Object({
  content: Nullable(Type.String()),
  dag_id: Type.String(),
  version_number: Nullable(Type.Integer()),
  dag_display_name: Type.String(),
});

export const DagVersion = Type.Object({
  id: Type.String(),
  version_number: Type.Integer(),
  dag_id: Type.String(),
  bundle_name: Nullable(Type.String()),
  bundle_version: Nullable(Type.String()),
  created_at: Instant,
  dag_display_name: Type.String(),
  bundle_url: Nullable(Type.String()),
});
export const DagVersionCollection = Type.Object({
  dag_versions: Type.Array(DagVersion),
  total_entries: Type.Integer(),
});
