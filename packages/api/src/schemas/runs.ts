import { Type } from "typebox";
import { Instant, Nullable, NullableInstant, Paging, rangeOf, Sorting, Text, Texts } from "./common.ts";
import { DagVersion, RunState } from "./dags.ts";

export const DagRun = Type.Object({
  dag_run_id: Type.String(),
  dag_id: Type.String(),
  logical_date: NullableInstant,
  queued_at: NullableInstant,
  start_date: NullableInstant,
  end_date: NullableInstant,
  duration: Nullable(Type.Number()),
  data_interval_start: NullableInstant,
  data_interval_end: NullableInstant,
  run_after: Instant,
  last_scheduling_decision: NullableInstant,
  run_type: Type.String(),
  state: RunState,
  triggered_by: Nullable(Type.String()),
  triggering_user_name: Nullable(Type.String()),
  conf: Nullable(Type.Record(Type.String(), Type.Unknown())),
  note: Nullable(Type.String()),
  dag_versions: Type.Array(DagVersion),
  bundle_version: Nullable(Type.String()),
  dag_display_name: Type.String(),
  partition_key: Nullable(Type.String()),
});

export const DagRunCollection = Type.Object({ dag_runs: Type.Array(DagRun), total_entries: Type.Integer() });

export const DagRunListQuery = Type.Object({
  ...Paging,
  ...Sorting,
  state: Texts,
  run_type: Texts,
  dag_id_pattern: Text,
  run_id_pattern: Text,
  ...rangeOf("run_after"),
  ...rangeOf("logical_date"),
  ...rangeOf("start_date"),
  ...rangeOf("end_date"),
  ...rangeOf("updated_at"),
});

export const TriggerBody = Type.Object(
  {
    dag_run_id: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 250 }))),
    logical_date: Type.Optional(NullableInstant),
    data_interval_start: Type.Optional(NullableInstant),
    data_interval_end: Type.Optional(NullableInstant),
    run_after: Type.Optional(NullableInstant),
    conf: Type.Optional(Nullable(Type.Record(Type.String(), Type.Unknown()))),
    note: Type.Optional(Nullable(Type.String({ maxLength: 1_000 }))),
    partition_key: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 250 }))),
  },
  { additionalProperties: false },
);

export const IdempotencyHeader = Type.Object({
  "idempotency-key": Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
});

/** A DAG's newest runs against its tasks. */
export const Grid = Type.Object({
  dag_id: Type.String(),
  nodes: Type.Array(
    Type.Object({
      task_id: Type.String(),
      task_display_name: Type.String(),
      operator: Type.String(),
      upstream: Type.Array(Type.String()),
      trigger_rule: Type.String(),
      /** By itself or by its group: its task instances have indexes. */
      is_mapped: Type.Boolean(),
    }),
  ),
  runs: Type.Array(
    Type.Object({
      dag_run_id: Type.String(),
      run_type: Type.String(),
      state: RunState,
      run_after: Instant,
      logical_date: NullableInstant,
      start_date: NullableInstant,
      end_date: NullableInstant,
      /**
       * One entry a node, in their order: its state, or how many of its mapped task instances are in which state. Null:
       * the task takes no part in the run.
       */
      states: Type.Array(Type.Union([Type.String(), Type.Record(Type.String(), Type.Integer()), Type.Null()])),
    }),
  ),
});
