import type { NoArguments } from "../authoring/handlers.ts";
import { Operator } from "../operators/operator.ts";
import { boolean, show, type Check } from "../reading/checks.ts";
import {
  answerOf,
  ask,
  questionFields,
  wrongQuestion,
  type Choice,
  type HitlAnswer,
  type QuestionOptions,
} from "./question.ts";

/** The options of {@link hitl}. */
export interface HitlOptions<A extends object = NoArguments> extends QuestionOptions<A> {
  /** What can be chosen; different from each other, at least one. */
  readonly options: readonly string[];
  /** What counts as chosen when nobody answered in time. One, unless `multiple`. @default none: the task fails then */
  readonly defaults?: string | readonly string[];
  /** Whether several options can be chosen. @default false */
  readonly multiple?: boolean;
}

const texts: Check = (value) =>
  Array.isArray(value) && value.every((option) => typeof option === "string" && option !== "" && option.length <= 250)
    ? undefined
    : `must be an array of strings of 1 to 250 characters, got ${show(value)}`;

/**
 * Goes where a handler goes: asks people, and waits for the answer without holding a worker. They answer on the page,
 * through the API, or on the command line. Without an answer in time the task takes its defaults, or fails with
 * `HitlTimeout`. Airflow's `HITLOperator`.
 *
 * @example `dag.task("size", hitl({ subject: "How large?", options: ["small", "large"], responseTimeout: 3600 }))`
 */
export function hitl<A extends object = NoArguments>(given: HitlOptions<A>): Operator<A, HitlAnswer> {
  const { defaults } = given;
  const choice: Choice = {
    options: given.options ?? [], // missing only in plain JavaScript, and reported
    ...(defaults === undefined ? {} : { defaults: [defaults].flat() }),
    multiple: given.multiple ?? false,
  };
  const own = {
    options: texts,
    defaults: (value: unknown) => (typeof value === "string" ? undefined : texts(value)),
    multiple: boolean,
  };
  return new Operator({
    name: "hitl",
    problems: wrongQuestion(given, choice, own),
    fields: questionFields(given),
    run: (_inputs, scope, fields) => {
      const resumed = scope.waited?.resumed;
      return resumed === undefined ? ask(given, choice, fields, scope) : answerOf(resumed.event, given, choice);
    },
  });
}
