// Questions that tasks ask people. Names and fields are Airflow's.
import { Type } from "typebox";
import {
  Flag,
  Instant,
  Nullable,
  NullableInstant,
  Paging,
  rangeOf,
  RunPath,
  Sorting,
  TaskPath,
  Text,
} from "./common.ts";
import { TaskInstance } from "./task-instances.ts";

const User = Type.Object({ id: Type.String(), name: Type.String() });
const Values = Type.Record(Type.String(), Type.Unknown());
const Options = Type.Array(Type.String({ maxLength: 1_000 }), { maxItems: 1_000 });

const Asked = {
  options: Options,
  subject: Type.String(),
  body: Nullable(Type.String()),
  defaults: Nullable(Options),
  multiple: Type.Boolean(),
  params: Values,
  assigned_users: Type.Array(User),
  created_at: Instant,
  /** When the task stops waiting; null: it waits as long as it takes. */
  expires_at: NullableInstant,
  responded_by_user: Nullable(User),
  responded_at: NullableInstant,
  chosen_options: Nullable(Options),
  params_input: Values,
  response_received: Type.Boolean(),
};

export const Question = Type.Object({ ...Asked, task_instance: TaskInstance });
export const QuestionCollection = Type.Object({
  hitl_details: Type.Array(Question),
  total_entries: Type.Integer(),
});
export const QuestionListQuery = Type.Object({
  ...Paging,
  ...Sorting,
  task_id: Text,
  map_index: Type.Optional(Type.Integer({ minimum: -1, maximum: 2_147_483_647 })),
  response_received: Flag,
  ...rangeOf("created_at"),
});
export const AnswerBody = Type.Object(
  { chosen_options: Options, params_input: Type.Optional(Values) },
  { additionalProperties: false },
);
export const Answer = Type.Object({
  responded_by: User,
  responded_at: Instant,
  chosen_options: Options,
  params_input: Values,
});

export const QuestionPath = Type.Object({
  ...TaskPath.properties,
  map_index: Type.Integer({ minimum: -1, maximum: 2_147_483_647 }),
});
export const QuestionTryPath = Type.Object({
  ...QuestionPath.properties,
  try_number: Type.Integer({ minimum: 0, maximum: 2_147_483_647 }),
});
export { RunPath };
