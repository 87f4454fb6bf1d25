import type { NoArguments } from "../authoring/handlers.ts";
import { ApprovalRejected } from "../errors/wait-errors.ts";
import { Operator } from "../operators/operator.ts";
import { boolean, oneOf } from "../reading/checks.ts";
import {
  answerOf,
  ask,
  questionFields,
  wrongQuestion,
  type Choice,
  type HitlAnswer,
  type QuestionOptions,
} from "./question.ts";

const APPROVE = "Approve";
const REJECT = "Reject";

/** The options of {@link approval}. */
export interface ApprovalOptions<A extends object = NoArguments> extends QuestionOptions<A> {
  /** What counts as the answer when nobody gave one in time. @default none: the task fails then */
  readonly defaults?: typeof APPROVE | typeof REJECT;
  /** Fail the task on "Reject", for good, instead of skipping what is downstream. @default false */
  readonly failOnReject?: boolean;
  /**
   * On "Reject", `true` skips everything downstream, whatever its trigger rule; `false` only what is directly downstream,
   * and lets trigger rules decide about the rest. @default false
   */
  readonly ignoreDownstreamTriggerRules?: boolean;
}

/**
 * Goes where a handler goes: asks people to approve or reject, and waits for the answer without holding a worker. On
 * "Reject" what is downstream is skipped. Airflow's `ApprovalOperator`; other than there, a rejection with `failOnReject`
 * is not tried again, because that would only ask again.
 *
 * @example `dag.task("release", approval({ subject: "Release the report?", assignedUsers: ["ada"] }))`
 */
export function approval<A extends object = NoArguments>(given: ApprovalOptions<A>): Operator<A, HitlAnswer> {
  const { defaults, failOnReject = false } = given;
  const choice: Choice = {
    options: [APPROVE, REJECT],
    ...(defaults === undefined ? {} : { defaults: [defaults].flat() }),
    multiple: false,
  };
  const own = {
    defaults: oneOf([APPROVE, REJECT]),
    failOnReject: boolean,
    ignoreDownstreamTriggerRules: boolean,
  };
  return new Operator({
    name: "approval",
    // Where a rejection fails the task, its value decides nothing.
    ...(failOnReject ? {} : { branch: "short_circuit" }),
    ignoreDownstreamTriggerRules: given.ignoreDownstreamTriggerRules ?? false,
    // Only answers get here.
    goesOn: (value) => (value as HitlAnswer).chosen_options.includes(APPROVE),
    problems: wrongQuestion(given, choice, own),
    fields: questionFields(given),
    run: (_inputs, scope, fields) => {
      const resumed = scope.waited?.resumed;
      if (resumed === undefined) return ask(given, choice, fields, scope);
      const answer = answerOf(resumed.event, given, choice);
      if (failOnReject && answer.chosen_options.includes(REJECT)) {
        throw new ApprovalRejected(`rejected by ${answer.responded_by_user?.name ?? "default, for nobody answered"}`);
      }
      return answer;
    },
  });
}
