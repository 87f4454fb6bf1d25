// Renders the template fields of an operator right before it runs. Texts of the DAG's file are templates; what a function
// of the file gives is a value already and is taken as it is.
import type { RunScope } from "../runtime/run-scope.ts";
import type { Json } from "../spec/index.ts";
import { airflowNames, type AirflowNames } from "./airflow-names.ts";
import { Budget } from "./budget.ts";
import type { CodeKind } from "./code-text.ts";
import { evaluateText, evaluateValue, type EvaluateOptions } from "./evaluate.ts";
import { Lookups } from "./lookups.ts";
import { isTemplate, MAX_DEPTH, parseTemplate } from "./parse-template.ts";
import { TemplateError } from "./template-error.ts";
import { toJson } from "./values.ts";

/** An option of an operator that is a template, or a function that gives its value. */
export interface TemplateField {
  readonly value: unknown;
  /** Code of this kind: see code-text.ts. */
  readonly code?: CodeKind;
}

/** Options as they are for one attempt, by name. */
export type RenderedFields = Readonly<Record<string, unknown>>;

/** @throws TemplateError that names the task, the field and what is wrong there */
export async function renderFields(
  fields: Readonly<Record<string, TemplateField>>,
  scope: RunScope,
  inputs: Readonly<Record<string, Json>>,
): Promise<RenderedFields> {
  const lookups = new Lookups();
  const names = airflowNames(scope, inputs, lookups);
  const { taskId } = scope.context;
  const native = scope.dag?.renderTemplateAsNativeObj ?? false;
  const rendered: Record<string, unknown> = {};
  for (const [name, { value, code }] of Object.entries(fields)) {
    if (value === undefined) continue;
    if (typeof value === "function") {
      // The factory's types ask for what such a function takes.
      rendered[name] = (await value(scope.context, inputs)) as unknown;
    } else {
      rendered[name] = await render(value, name, { names, lookups, native, code, taskId }, 0);
    }
  }
  return rendered;
}

interface Rendering {
  readonly names: AirflowNames;
  readonly lookups: Lookups;
  readonly native: boolean;
  readonly code: CodeKind | undefined;
  readonly taskId: string;
}

async function render(value: unknown, path: string, how: Rendering, depth: number): Promise<unknown> {
  if (depth > MAX_DEPTH) throw wrong(path, how, `it nests more than ${MAX_DEPTH} deep`);
  if (typeof value === "string") return isTemplate(value) ? await renderText(value, path, how) : value;
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const [i, item] of value.entries()) items.push(await render(item, `${path}[${i}]`, how, depth + 1));
    return items;
  }
  if (typeof value !== "object" || value === null || !isPlain(value)) return value;
  const entries: [string, unknown][] = [];
  for (const [key, item] of Object.entries(value)) {
    entries.push([key, await render(item, `${path}.${key}`, how, depth + 1)]);
  }
  return Object.fromEntries(entries);
}

/** An object of the file and not, say, a Date. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
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
