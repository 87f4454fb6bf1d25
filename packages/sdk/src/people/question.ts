// What a question to people consists of, from its options to what is stored, and from the answer to the task's value.
import type { NoArguments } from "../authoring/handlers.ts";
import type { Param } from "../authoring/dag-options.ts";
import { HitlTimeout, TriggerFailed } from "../errors/wait-errors.ts";
import type { PerRun } from "../operators/per-run.ts";
import { orTemplate } from "../operators/read-fields.ts";
import { checkOptions, name, seconds, show, type Check } from "../reading/checks.ts";
import type { HitlRequest, HitlResponse, TriggerEvent } from "../runtime/protocol.ts";
import type { RunScope } from "../runtime/run-scope.ts";
import type { Json } from "../spec/index.ts";
import type { RenderedFields, TemplateField } from "../templates/render-fields.ts";
import { Trigger } from "../triggers/trigger.ts";
import { encodeJson } from "../values/encode-json.ts";
import { defer, type Pause } from "../waiting/pause.ts";

/** Somebody who may answer. */
export interface HitlUser {
  readonly id: string;
  readonly name: string;
}

/** What all questions have. */
export interface QuestionOptions<A extends object = NoArguments> {
  /** The question in one line; 1 to 1000 characters. A template. */
  readonly subject: PerRun<string, A>;
  /** What has to be known to answer it, in Markdown. A template. */
  readonly body?: PerRun<string, A>;
  /**
   * Further values to ask for, by name: a default, a JSON Schema with a `default`, or `{ default, description, schema }`
   * as for the params of a DAG.
   */
  readonly params?: Readonly<Record<string, Json | Param>>;
  /** Only they may answer: users, or their ids. @default everybody who may */
  readonly assignedUsers?: readonly (HitlUser | string)[];
  /** Seconds to wait for the answer; more than 0. @default no limit */
  readonly responseTimeout?: number;
}

/** The answer, as downstream tasks see it. */
export interface HitlAnswer {
  readonly chosen_options: readonly string[];
  readonly params_input: Readonly<Record<string, Json>>;
  /** ISO 8601 in UTC. */
  readonly responded_at: string;
  /** Null when the defaults were taken. */
  readonly responded_by_user: HitlUser | null;
  /** Whether time ran out, and the defaults were taken. */
  readonly timedout: boolean;
}

/** The part of a question that does not depend on the run. */
export interface Choice {
  readonly options: readonly string[];
  readonly defaults?: readonly string[];
  readonly multiple: boolean;
}

const TRIGGER = "millrace.hitl";

export const questionFields = ({ subject, body }: QuestionOptions<never>): Readonly<Record<string, TemplateField>> => ({
  subject: { value: withInputsFirst(subject) },
  body: { value: withInputsFirst(body) },
});

/**
 * In files written for Airflow's SDK a function of a question takes the inputs: beside its own members the context has
 * them, too.
 */
function withInputsFirst(text: unknown): unknown {
  if (typeof text !== "function") return text;
  return (context: object, inputs: Readonly<Record<string, Json>>): unknown =>
    text(Object.assign(Object.create(context) as object, pickOthers(inputs, context)), inputs) as unknown;
}

const pickOthers = (inputs: Readonly<Record<string, Json>>, context: object): Readonly<Record<string, Json>> =>
  Object.fromEntries(Object.entries(inputs).filter(([name]) => !(name in context)));

export function ask(
  question: QuestionOptions<never>,
  { options, defaults, multiple }: Choice,
  { subject, body }: RenderedFields,
  scope: RunScope,
): Pause {
  const wrong = checkOptions({ subject, body }, TEXTS);
  if (wrong.length > 0) throw new TypeError(wrong.join("; "));
  const hitl: HitlRequest = {
    subject: String(subject),
    ...(body === undefined ? {} : { body: String(body) }),
    options,
    ...(defaults === undefined ? {} : { defaults }),
    multiple,
    params: schemasOf(question.params),
    assignedUsers: (question.assignedUsers ?? []).map((user) =>
      typeof user === "string" ? { id: user, name: user } : { id: user.id, name: user.name },
    ),
  };
  return defer(new Trigger(TRIGGER, {}), { timeout: question.responseTimeout, hitl }, scope);
}

/** @throws HitlTimeout when time ran out and there are no defaults */
export function answerOf(event: TriggerEvent, question: QuestionOptions<never>, choice: Choice): HitlAnswer {
  if (event.kind === "failed") throw new TriggerFailed(TRIGGER, event.error);
  if (event.kind === "event") {
    const response = event.payload as unknown as HitlResponse; // what answers a question
    return {
      chosen_options: response.chosenOptions,
      params_input: response.paramsInput,
      responded_at: response.respondedAt,
      responded_by_user: response.respondedBy,
      timedout: false,
    };
  }
  if (choice.defaults === undefined) {
    throw new HitlTimeout(`nobody answered within ${question.responseTimeout} s, and the question has no defaults`);
  }
  const schemas = Object.entries(schemasOf(question.params));
  return {
    chosen_options: choice.defaults,
    params_input: Object.fromEntries(schemas.map(([key, schema]) => [key, schema["default"] ?? null])),
    responded_at: new Date().toISOString(),
    responded_by_user: null,
    timedout: true,
  };
}

const TEXTS = { subject: name(1000), body: name(1_000_000) };

type Schema = Readonly<Record<string, Json>>;

/** Every param as a JSON Schema; one that is wrong is reported by {@link wrongQuestion}. */
function schemasOf(params: QuestionOptions["params"] = {}): Readonly<Record<string, Schema>> {
  return Object.fromEntries(Object.entries(params).map(([key, param]) => [key, schemaOf(param)]));
}

function schemaOf(param: unknown): Schema {
  if (typeof param !== "object" || param === null || Array.isArray(param)) return { default: encodeJson(param) };
  // `value` is what Airflow's SDK calls the default here.
  const { schema, value, ...rest } = param as { readonly schema?: object; readonly value?: unknown };
  return encodeJson({ ...schema, ...(value === undefined ? {} : { default: value }), ...rest }) as Schema; // an object stays one
}

/** What is wrong with a question; `own` checks the options beside the common ones. */
export function wrongQuestion(
  question: QuestionOptions<never>,
  choice: Choice,
  own: Readonly<Record<string, Check>>,
): readonly string[] {
  const wrong = checkOptions(question, {
    subject: orTemplate(TEXTS.subject),
    body: orTemplate(TEXTS.body),
    params: wrongParams,
    assignedUsers: wrongUsers,
    responseTimeout: seconds("positive"),
    ...own,
  });
  const missing = question.subject === undefined ? ["subject is missing"] : [];
  return [...missing, ...wrong, ...(wrong.length === 0 ? wrongChoice(choice) : [])];
}

function wrongChoice({ options, defaults, multiple }: Choice): readonly string[] {
  const twice = options.find((option, index) => options.indexOf(option) !== index);
  const unknown = defaults?.find((option) => !options.includes(option));
  return [
    ...(options.length === 0 ? ["options must not be empty"] : []),
    ...(twice === undefined ? [] : [`options has ${show(twice)} twice`]),
    ...(unknown === undefined ? [] : [`defaults has ${show(unknown)}, which is not among the options`]),
    ...(defaults !== undefined && !multiple && defaults.length !== 1
      ? [`defaults must have one entry unless multiple is true, got ${defaults.length}`]
      : []),
  ];
}

const TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"];

const wrongParams: Check = (value) => {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return `must be an object, got ${show(value)}`;
  for (const [key, param] of Object.entries(value)) {
    try {
      const { type } = schemaOf(param);
      const unknown = [type ?? []].flat().find((one) => !TYPES.includes(String(one)));
      if (unknown !== undefined) return `: "${key}" has the type ${show(unknown)}, which JSON Schema does not have`;
    } catch (error) {
      return `: "${key}" cannot be stored: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
  return undefined;
};

const wrongUsers: Check = (value) => {
  const isName = (text: unknown) => name(250)(text) === undefined;
  const isUser = (user: unknown) =>
    isName(user) ||
    (typeof user === "object" &&
      user !== null &&
      "id" in user &&
      "name" in user &&
      isName(user.id) &&
      isName(user.name));
  return Array.isArray(value) && value.every(isUser)
    ? undefined
    : `must be an array of user ids or of { id, name }, got ${show(value)}`;
};
