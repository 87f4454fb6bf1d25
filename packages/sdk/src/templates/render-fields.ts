// Renders the template fields of an operator right before it runs. Texts of the DAG's file are templates; what a function
// of the file gives is a value already and is taken as it is.
import { isValueRef } from "../authoring/refs.ts";
import type { RunScope } from "../runtime/run-scope.ts";
import type { Json } from "../spec/index.ts";
import { airflowNames, type AirflowNames } from "./airflow-names.ts";
import { Budget } from "./budget.ts";
import type { CodeKind } from "./code-text.ts";
import { evaluateText, evaluateValue } from "./evaluate.ts";
import type { EvaluateOptions } from "./expressions.ts";
import { Lookups } from "./lookups.ts";
import { fieldInputName, isPlain, ownInputs, partsOf } from "./field-inputs.ts";
import { isTemplate, MAX_DEPTH, parseTemplate } from "./parse-template.ts";
import { TemplateError } from "./template-error.ts";
import { toJson, type Value } from "./values.ts";

/** An option of an operator that is a template, or a function that gives its value. */
export interface TemplateField {
  readonly value: unknown;
  /** Code of this kind: see code-text.ts. */
  readonly code?: CodeKind;
}

/** Options as they are for one attempt, by name. */
export type RenderedFields = Readonly<Record<string, unknown>>;

/**
 * @param inputs of the task, with those that options refer to
 * @throws TemplateError that names the task, the field and what is wrong there
 */
export async function renderFields(
  fields: Readonly<Record<string, TemplateField>>,
  scope: RunScope,
  inputs: Readonly<Record<string, Json>>,
): Promise<RenderedFields> {
  const lookups = new Lookups();
  const own = ownInputs(inputs);
  const names = airflowNames(scope, own, lookups);
  const { taskId } = scope.context;
  const native = scope.dag?.renderTemplateAsNativeObj ?? false;
  const rendered: Record<string, unknown> = {};
  for (const [name, { value, code }] of Object.entries(fields)) {
    if (value === undefined) continue;
    if (typeof value === "function") {
      // The factory's types ask for what such a function takes.
      rendered[name] = (await value(scope.context, own)) as unknown;
    } else {
      rendered[name] = await render(value, name, { inputs, names, lookups, native, code, taskId }, 0);
    }
  }
  return rendered;
}

/** Names beside Airflow's: those that come before them, and those that are there if nothing else is. */
export interface MoreNames {
  readonly first: (name: string) => Value | undefined;
  readonly last: (name: string) => Value | undefined;
}

/**
 * One template, as a text.
 * @param title what it is, for errors
 * @throws TemplateError as `renderFields`
 */
export async function renderLine(
  source: string,
  title: string,
  scope: RunScope,
  inputs: Readonly<Record<string, Json>>,
  more: MoreNames,
): Promise<string> {
  const lookups = new Lookups();
  const known = airflowNames(scope, inputs, lookups);
  const get = (name: string) => more.first(name) ?? known.get(name) ?? more.last(name);
  const { taskId } = scope.context;
  const how = { inputs, names: { ...known, get }, lookups, native: false, code: undefined, taskId };
  return String(await renderText(source, title, how));
}

interface Rendering {
  readonly inputs: Readonly<Record<string, Json>>;
  readonly names: AirflowNames;
  readonly lookups: Lookups;
  readonly native: boolean;
  readonly code: CodeKind | undefined;
  readonly taskId: string;
}

async function render(value: unknown, path: string, how: Rendering, depth: number): Promise<unknown> {
  if (depth > MAX_DEPTH) throw wrong(path, how, `it nests more than ${MAX_DEPTH} deep`);
  if (typeof value === "string") return isTemplate(value) ? await renderText(value, path, how) : value;
  if (isValueRef(value)) {
    const given = how.inputs[fieldInputName(path)];
    if (given === undefined) throw wrong(path, how, "the task that its value comes from gave none");
    return given;
  }
  const items: unknown[] = [];
  for (const [at, item] of partsOf(value, path)) items.push(await render(item, at, how, depth + 1));
  if (Array.isArray(value)) return items;
  return isPlain(value) ? Object.fromEntries(Object.keys(value).map((key, i) => [key, items[i]])) : value;
}

async function renderText(source: string, path: string, how: Rendering): Promise<unknown> {
  try {
    const template = parseTemplate(source);
    return await how.lookups.complete((): unknown => {
      const options: EvaluateOptions = {
        budget: new Budget(),
        names: how.names.get,
        whyMissing: how.names.whyMissing,
        code: how.code,
      };
      const only = how.native && how.code === undefined ? evaluateValue(template, options) : undefined;
      return only === undefined ? evaluateText(template, options) : toJson(only.value, options.budget);
    });
  } catch (error) {
    if (error instanceof TemplateError) throw wrong(path, how, error.message);
    // The evaluator runs on the stack of this process.
    if (error instanceof RangeError) throw wrong(path, how, "it nests too deep");
    throw error;
  }
}

const wrong = (path: string, { taskId }: Rendering, message: string): TemplateError =>
  new TemplateError(`template field "${path}" of task "${taskId}": ${message}`);
