// deferred → scheduled because a person answered: the answer is stored and the task resumes with it, in one statement. The
// caller holds the task instance. Locks: the row, then its question.
import { defineStatement } from "../statement.ts";
import { stateOf } from "./found-by-id.ts";
import { DROP_TRIGGERS } from "./history.ts";
import { withoutKept } from "./kept-waits.ts";

export type AnswerQuestionParams = readonly [
  id: string,
  epoch: number,
  /** JSON, as the next two. */
  chosenOptions: string,
  paramsInput: string,
  respondedBy: string,
];

export const answerQuestion = defineStatement<
  AnswerQuestionParams,
  { readonly dagRunId: number; readonly taskId: string }
>({
  name: "answer-question",
  transitions: ["deferred>scheduled"],
  sql: `
with locked as (
  select id, trigger_id from task_instance ti where id = $1 and epoch = $2 and ${stateOf("ti")} = 'deferred'
  for update
), answered as (
  update hitl_detail h set responded_at = now(), responded_by = $5::jsonb, chosen_options = $3::jsonb, params_input = $4::jsonb
  from locked where h.ti_id = locked.id and h.responded_at is null
  returning h.ti_id, h.responded_at
), ${DROP_TRIGGERS}
update task_instance ti set state = 'scheduled', epoch = ti.epoch + 1, scheduled_dttm = now(), trigger_id = null,
  trigger_timeout = null, updated_at = now(),
  next_kwargs = ${withoutKept("ti.next_kwargs", "event")} || jsonb_build_object('event', jsonb_build_object('kind', 'event', 'payload',
    jsonb_build_object('chosenOptions', $3::jsonb, 'paramsInput', $4::jsonb, 'respondedBy', $5::jsonb,
      'respondedAt', to_char(a.responded_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))))
from answered a where ti.id = a.ti_id
returning ti.dag_run_id as "dagRunId", ti.task_id as "taskId"`,
});
