import { Type } from "typebox";
import { Instant, Nullable, NullableInstant, Paging, Text, Texts } from "./common.ts";

export const CallbackListQuery = {
  ...Paging,
  state: Texts,
  task_id: Text,
  map_index: Type.Optional(Type.Integer({ minimum: -1, maximum: 2_147_483_647 })),
};

export const CallbackCollection = Type.Object({
  callbacks: Type.Array(
    Type.Object({
      id: Type.String(),
      /** `onFailure` of a task, `dagOnFailure` of a run, … */
      kind: Type.String(),
      state: Type.String(),
      task_id: Nullable(Type.String()),
      map_index: Type.Integer(),
      try_number: Type.Integer(),
      created_at: Instant,
      /** How often a worker has begun it. */
      attempts: Type.Integer(),
      /** When it is given to another worker, unless this one says before that it lives. */
      lease_until: NullableInstant,
      hostname: Nullable(Type.String()),
      /** What it said when it failed. */
      output: Nullable(Type.String()),
    }),
  ),
  total_entries: Type.Integer(),
});
