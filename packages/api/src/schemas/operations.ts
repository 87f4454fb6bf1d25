import { Type } from "typebox";
import { Instant, Nullable, NullableInstant } from "./common.ts";

const Status = Nullable(Type.Union([Type.Literal("healthy"), Type.Literal("unhealthy")]));

export const Health = Type.Object({
  metadatabase: Type.Object({ status: Status }),
  scheduler: Type.Object({ status: Status, latest_scheduler_heartbeat: NullableInstant }),
  triggerer: Type.Object({ status: Status, latest_triggerer_heartbeat: NullableInstant }),
  dag_processor: Type.Object({ status: Status, latest_dag_processor_heartbeat: NullableInstant }),
});

export const Version = Type.Object({ version: Type.String(), git_version: Nullable(Type.String()) });

export const ImportError = Type.Object({
  import_error_id: Type.Integer(),
  timestamp: Instant,
  filename: Type.String(),
  bundle_name: Nullable(Type.String()),
  stack_trace: Type.String(),
});
export const ImportErrorCollection = Type.Object({
  import_errors: Type.Array(ImportError),
  total_entries: Type.Integer(),
});

export const DagWarning = Type.Object({
  dag_id: Type.String(),
  dag_display_name: Type.String(),
  warning_type: Type.String(),
  message: Type.String(),
  timestamp: Instant,
});
export const DagWarningCollection = Type.Object({
  dag_warnings: Type.Array(DagWarning),
  total_entries: Type.Integer(),
});

export const Pool = Type.Object({
  name: Type.String(),
  slots: Type.Integer(),
  description: Nullable(Type.String()),
  include_deferred: Type.Boolean(),
  occupied_slots: Type.Integer(),
  running_slots: Type.Integer(),
  queued_slots: Type.Integer(),
  scheduled_slots: Type.Integer(),
  open_slots: Type.Integer(),
  deferred_slots: Type.Integer(),
  team_name: Nullable(Type.String()),
});
export const PoolCollection = Type.Object({ pools: Type.Array(Pool), total_entries: Type.Integer() });

export const Job = Type.Object({
  id: Type.Integer(),
  dag_id: Nullable(Type.String()),
  state: Nullable(Type.String()),
  job_type: Nullable(Type.String()),
  start_date: NullableInstant,
  end_date: NullableInstant,
  latest_heartbeat: NullableInstant,
  executor_class: Nullable(Type.String()),
  hostname: Nullable(Type.String()),
  unixname: Nullable(Type.String()),
  dag_display_name: Nullable(Type.String()),
});
export const JobCollection = Type.Object({ jobs: Type.Array(Job), total_entries: Type.Integer() });

export const Credentials = Type.Object(
  {
    username: Type.String({ minLength: 1, maxLength: 200 }),
    password: Type.String({ minLength: 1, maxLength: 1_000 }),
  },
  { additionalProperties: false },
);
export const AccessToken = Type.Object({ access_token: Type.String() });
export const Me = Type.Object({ username: Type.String(), role: Type.String() });
