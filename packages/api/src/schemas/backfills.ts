import { Type } from "typebox";
import { Instant, Nullable, NullableInstant, Paging, Sorting } from "./common.ts";

const INT = 2_147_483_647;
const Behavior = Type.Union([Type.Literal("failed"), Type.Literal("completed"), Type.Literal("none")]);

export const BackfillPath = Type.Object({ backfill_id: Type.Integer({ minimum: 0, maximum: INT }) });

export const BackfillListQuery = Type.Object({
  ...Paging,
  ...Sorting,
  dag_id: Type.String({ minLength: 1, maxLength: 250 }),
});

export const BackfillBody = Type.Object(
  {
    dag_id: Type.String({ minLength: 1, maxLength: 250 }),
    from_date: Instant,
    to_date: Instant,
    run_backwards: Type.Optional(Type.Boolean()),
    dag_run_conf: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    reprocess_behavior: Type.Optional(Behavior),
    max_active_runs: Type.Optional(Type.Integer({ minimum: 1, maximum: INT })),
    run_on_latest_version: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
);

export const Backfill = Type.Object({
  id: Type.Integer(),
  dag_id: Type.String(),
  from_date: Instant,
  to_date: Instant,
  dag_run_conf: Nullable(Type.Record(Type.String(), Type.Unknown())),
  is_paused: Type.Boolean(),
  reprocess_behavior: Behavior,
  max_active_runs: Type.Integer(),
  created_at: Instant,
  completed_at: NullableInstant,
  updated_at: Instant,
  dag_display_name: Type.String(),
  // Beyond Airflow's answer.
  run_backwards: Type.Boolean(),
  /** False while the dates of a DAG with a timetable of its own are still to be asked for. */
  is_planned: Type.Boolean(),
  /** Why that timetable gave no dates; the backfill is over. */
  plan_error: Nullable(Type.String()),
  /** Dates by what became of them; `left` are those that are pending, queued or running. */
  progress: Type.Object({
    total: Type.Integer(),
    success: Type.Integer(),
    failed: Type.Integer(),
    running: Type.Integer(),
    queued: Type.Integer(),
    pending: Type.Integer(),
    skipped: Type.Integer(),
    left: Type.Integer(),
    /** Seconds until nothing is left, by the newest runs to end; null while that cannot be told. */
    eta_seconds: Nullable(Type.Number()),
  }),
});

export const BackfillCollection = Type.Object({ backfills: Type.Array(Backfill), total_entries: Type.Integer() });

export const DryRunCollection = Type.Object({
  backfills: Type.Array(
    Type.Object({
      logical_date: NullableInstant,
      partition_key: Nullable(Type.String()),
      partition_date: NullableInstant,
    }),
  ),
  total_entries: Type.Integer(),
});
