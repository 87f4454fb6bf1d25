// The options of a task for one attempt: rendered right before it runs and told to its host, or only to be looked at.
import type { TaskNode } from "../authoring/definition.ts";
import type { DagStructure } from "../reading/read-dag.ts";
import type { Json } from "../spec/index.ts";
import { renderFields, type RenderedFields } from "../templates/render-fields.ts";
import { encodeJson } from "../values/encode-json.ts";
import { createClient } from "./create-client.ts";
import { inputsOf } from "./lazy-list.ts";
import { describeError } from "./outcome-of-error.ts";
import type { RenderOutcome, RunHost, RunRequest } from "./protocol.ts";
import { assertRunning, runScopes, type RunScope } from "./run-scope.ts";
import { contextOf } from "./task-context.ts";
import { paramsOf } from "./validate-params.ts";

/** More than this of one field is not shown to people. */
const MAX_SHOWN_BYTES = 1024 * 1024;

/** The template fields of a task, for people to look at. Never rejects. */
export async function renderTask(
  dag: DagStructure,
  task: TaskNode,
  request: RunRequest,
  host: RunHost,
): Promise<RenderOutcome> {
  const valid = await paramsOf(task, request);
  if ("error" in valid) return { kind: "failed", error: valid.error };
  const scope: RunScope = {
    context: contextOf({ ...request, params: valid.params }, host.signal),
    client: createClient(request, host, (asked) => assertRunning(scope, asked)),
    host,
    owners: dag.spec.owners,
    ...templateScope(dag, task),
    hasEnded: false,
  };
  try {
    const fields = await runScopes.run(scope, () =>
      renderFields(task.body.fields ?? {}, scope, inputsOf(request, host)),
    );
    return { kind: "rendered", fields: shownFields(fields) };
  } catch (thrown) {
    return { kind: "failed", error: describeError(thrown) };
  } finally {
    scope.hasEnded = true;
  }
}

/** What templates are told about beside the context. */
export function templateScope(dag: DagStructure, task: TaskNode): Pick<RunScope, "dag" | "taskSpec"> {
  const taskSpec = dag.spec.tasks.find(({ taskId }) => taskId === task.id);
  return { dag: dag.spec, ...(taskSpec === undefined ? {} : { taskSpec }) };
}

/** The fields of a task that is about to run; its host keeps them for people to look at. */
export async function renderAndTell(
  task: TaskNode,
  inputs: Readonly<Record<string, Json>>,
  scope: RunScope,
): Promise<RenderedFields> {
  const { fields } = task.body;
  if (fields === undefined) return {};
  const rendered = await renderFields(fields, scope, inputs);
  await scope.host.setRenderedFields?.(shownFields(rendered));
  return rendered;
}

/** The fields as JSON; what is none is named by its kind. */
function shownFields(fields: RenderedFields): Readonly<Record<string, Json>> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]): [string, Json][] => {
      if (value === undefined) return [];
      try {
        return [[name, encodeJson(value instanceof Date ? value.toISOString() : value, MAX_SHOWN_BYTES)]];
      } catch {
        return [[name, `(${typeof value} that cannot be shown)`]];
      }
    }),
  );
}
