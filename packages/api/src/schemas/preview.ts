import { Type } from "typebox";
import { Flag, Instant, NullableInstant, Text } from "./common.ts";

export const PreviewQuery = Type.Object({
  unpause: Flag,
  from: Type.Optional(Instant),
  to: Type.Optional(Instant),
  limit: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000 })),
  schedule: Text,
  timezone: Text,
  catchup: Type.Optional(Type.Union([Type.Literal("true"), Type.Literal("false"), Type.Literal("none")])),
  start_date: Type.Optional(Instant),
});

/** Local times are ISO texts with the offset of the schedule's zone. */
export const PreviewedRun = Type.Object({
  dag_run_id: Type.String(),
  logical_date: Instant,
  data_interval_start: Instant,
  data_interval_end: Instant,
  run_after: Instant,
  local: Type.Object({
    logical_date: Type.String(),
    data_interval_start: Type.String(),
    data_interval_end: Type.String(),
    run_after: Type.String(),
  }),
  /** Its time has come: it is created as soon as the schedule goes on. */
  is_due: Type.Boolean(),
  /** False when there is a run for its interval already. */
  is_created: Type.Boolean(),
  remarks: Type.Array(Type.String()),
});

export const DagPreview = Type.Object({
  dag_id: Type.String(),
  summary: Type.String(),
  timetable_summary: Type.String(),
  timezone: Type.String(),
  catchup: Type.Union([Type.Boolean(), Type.Literal("none")]),
  max_active_runs: Type.Integer(),
  is_paused: Type.Boolean(),
  /** Paused, and not asked about an unpause: none of the runs is created. */
  is_held: Type.Boolean(),
  now: Instant,
  from: NullableInstant,
  to: Instant,
  /** Runs that are created in the range, shown or not. */
  total: Type.Integer(),
  due: Type.Integer(),
  /** Runs that are created and lie before the range. */
  earlier: Type.Integer(),
  /** False when counting stopped before the end of the range. */
  is_complete: Type.Boolean(),
  remarks: Type.Array(Type.String()),
  runs: Type.Array(PreviewedRun),
});
