// Bodies and answers of explain, clear and mark. Names, fields and defaults are Airflow's.
import { Type } from "typebox";
import { Flag, Instant, Nullable, NullableInstant, TaskPath } from "./common.ts";

const STRICT = { additionalProperties: false };
const Id = Type.String({ minLength: 1, maxLength: 250 });
const MapIndexText = Type.Integer({ minimum: -1, maximum: 2_147_483_647 });
/** Notes of task instances are not kept: only a body without one is taken. */
const note = Type.Optional(Type.Null());
const Reach = { include_upstream: Flag, include_downstream: Flag, include_future: Flag, include_past: Flag };

export const MappedPath = Type.Object({ ...TaskPath.properties, map_index: MapIndexText });
export const MapIndexQuery = Type.Object({ map_index: Type.Optional(MapIndexText) });

export const ClearBody = Type.Object(
  {
    dry_run: Flag,
    start_date: Type.Optional(NullableInstant),
    end_date: Type.Optional(NullableInstant),
    only_failed: Flag,
    only_running: Flag,
    reset_dag_runs: Flag,
    /** Ids, and pairs of an id and a map index. */
    task_ids: Type.Optional(
      Nullable(Type.Array(Type.Union([Id, Type.Tuple([Id, MapIndexText])]), { maxItems: 10_000 })),
    ),
    dag_run_id: Type.Optional(Nullable(Id)),
    ...Reach,
    run_on_latest_version: Flag,
    prevent_running_task: Flag,
    /** Also what waits for these in other DAGs, behind their markers. */
    recursive: Flag,
    note,
  },
  STRICT,
);

export const ClearRunBody = Type.Object(
  { dry_run: Flag, only_failed: Flag, run_on_latest_version: Flag, note },
  STRICT,
);

export const PatchTaskBody = Type.Object(
  { new_state: Type.String({ maxLength: 50 }), ...Reach, run_callbacks: Flag, note },
  STRICT,
);

export const PatchRunBody = Type.Object(
  {
    state: Type.Optional(Type.String({ maxLength: 50 })),
    run_callbacks: Flag,
    /** Null takes it away. */
    note: Type.Optional(Nullable(Type.String({ maxLength: 1_000 }))),
  },
  { ...STRICT, minProperties: 1 },
);

/** One reason: its kind and parameters for programs, the sentence for people. */
const Reason = Type.Object({ kind: Type.String(), text: Type.String() }, { additionalProperties: true });

const Explained = {
  state: Nullable(Type.String()),
  since: NullableInstant,
  earliest: NullableInstant,
  conditions: Type.Array(Reason),
};
const Holder = Type.Object({
  dag_id: Type.String(),
  dag_run_id: Type.String(),
  task_id: Type.String(),
  map_index: Type.Integer(),
  state: Type.String(),
  slots: Type.Integer(),
  since: Nullable(Instant),
});

export const TaskExplanation = Type.Object({
  task_id: Type.String(),
  map_index: Type.Integer(),
  ...Explained,
  holders: Type.Array(Holder),
});

/** Why a DAG has no new run. */
export const DagExplanation = Type.Object({
  dag_id: Type.String(),
  is_paused: Type.Boolean(),
  earliest: NullableInstant,
  conditions: Type.Array(Reason),
});

export const RunExplanation = Type.Object({
  dag_id: Type.String(),
  dag_run_id: Type.String(),
  ...Explained,
  tasks: Type.Array(Type.Object({ task_id: Type.String(), map_index: Type.Integer(), ...Explained })),
});

export const Dependencies = Type.Object({
  /** Only what holds a task instance that no worker has yet. */
  dependencies: Type.Array(Type.Object({ name: Type.String(), reason: Type.String() })),
  explanation: TaskExplanation,
});
