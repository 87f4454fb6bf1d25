import type { TaskNode } from "../authoring/definition.ts";
import { isDagEnd } from "../authoring/node-ref.ts";
import { NODE } from "../authoring/refs.ts";
import type { DagStructure } from "../reading/read-dag.ts";
import { mappedGroupOf } from "../reading/read-mapping.ts";
import { taskOptions } from "../reading/read-task.ts";
import { encodeValue } from "../values/codec.ts";
import { Pause } from "../waiting/pause.ts";
import { OutletCollector } from "./asset-events.ts";
import { decide, decides } from "./decide.ts";
import { createClient } from "./create-client.ts";
import { describeError, outcomeOf } from "./outcome-of-error.ts";
import { inputsOf } from "./lazy-list.ts";
import { MapIndexLabel } from "./map-index-label.ts";
import type { RunHost, RunRequest, TaskOutcome } from "./protocol.ts";
import { ownInputs } from "../templates/field-inputs.ts";
import type { RenderedFields } from "../templates/render-fields.ts";
import { renderAndTell, templateScope } from "./render-task.ts";
import { callEach, listOf } from "./run-callback.ts";
import { assertRunning, runScopes, type RunScope } from "./run-scope.ts";
import { contextOf } from "./task-context.ts";
import { paramsOf } from "./validate-params.ts";

/**
 * Runs one handler to its end. Never rejects: whatever goes wrong is in the outcome.
 * @param run in place of what the task does: a mock
 */
export async function runTask(
  dag: DagStructure,
  task: TaskNode,
  request: RunRequest,
  host: RunHost,
  run: TaskNode["body"]["run"] = task.body.run,
): Promise<TaskOutcome> {
  const valid = await paramsOf(task, request);
  // The next try would be given the same.
  if ("error" in valid) return { kind: "failed", retryable: false, error: valid.error };
  const outlets = outletsOf(task, request);
  const scope: RunScope = {
    context: contextOf({ ...request, params: valid.params }, host.signal, {
      outlets,
      hasMappedDependants: hasMappedDependants(dag, task),
    }),
    client: createClient(request, host, (asked) => assertRunning(scope, asked)),
    host,
    owners: dag.spec.owners,
    isLatestRun: request.isLatestRun ?? true,
    decides: decides(task),
    ...(request.waited === undefined ? {} : { waited: request.waited }),
    ...(request.maxXComBytes === undefined ? {} : { maxXComBytes: request.maxXComBytes }),
    ...templateScope(dag, task),
    hasEnded: false,
  };
  let label: MapIndexLabel | undefined;
  let fields: RenderedFields = {};
  const end = async (outcome: TaskOutcome): Promise<TaskOutcome> => {
    await label?.after(fields, outcome);
    return outcome;
  };
  try {
    host.signal.throwIfAborted();
    await announce(task, request, scope);
    host.signal.throwIfAborted();
    const value = await runScopes.run(scope, async () => {
      // What an attempt does after a wait is told by the wait, and a mock needs no options.
      const isWhole = request.waited?.resumed === undefined && run === task.body.run;
      const inputs = inputsOf(request, host);
      label = new MapIndexLabel(scope, inputs);
      fields = isWhole ? await renderAndTell(task, inputs, scope) : {};
      await label.before(fields);
      host.signal.throwIfAborted();
      return run(ownInputs(inputs), scope, fields);
    });
    return await end(value instanceof Pause ? value.outcome : succeed(dag, task, request, value, outlets));
  } catch (thrown) {
    return await end(outcomeOf(thrown));
  } finally {
    scope.hasEnded = true;
  }
}

function hasMappedDependants({ graph, tasks }: DagStructure, task: TaskNode): boolean {
  return [...graph.downstream(task)].some((next) => {
    const spec = tasks.get(next.id);
    return (
      spec?.placement?.mapping !== undefined || (spec !== undefined && isInMappedGroup(spec) && !isInMappedGroup(task))
    );
  });
}

const isInMappedGroup = (task: TaskNode): boolean => mappedGroupOf(task) !== undefined;

/** As in Airflow, what `onExecute` throws does not keep the handler from running. */
async function announce(task: TaskNode, request: RunRequest, scope: RunScope): Promise<void> {
  const { dagId, taskId, runId, mapIndex, tryNumber } = request;
  const key = `${scope.context.idempotencyKey}/onExecute`;
  const event = { dagId, taskId, runId, mapIndex, tryNumber, key };
  for (const thrown of await callEach(listOf(taskOptions(task).onExecute), event, scope)) {
    const { name, message, stack } = describeError(thrown);
    scope.host.log("error", `onExecute failed: ${stack ?? `${name}: ${message}`}`);
  }
}

/** Undefined for a task without outlets, which has no events whatever its handler does. */
function outletsOf(task: TaskNode, request: RunRequest): OutletCollector | undefined {
  const uses = [taskOptions(task).outlets ?? []].flat();
  return uses.length === 0 ? undefined : new OutletCollector(task.id, uses, request.maxXComBytes);
}

function succeed(
  dag: DagStructure,
  task: TaskNode,
  request: RunRequest,
  value: unknown,
  outlets: OutletCollector | undefined,
): TaskOutcome {
  const branch = decide(dag, task, value);
  const stored = task.decision?.kind === "switch" || task.body.branch === "branch" ? idsOf(value) : value;
  if (isDagEnd(stored)) {
    throw new TypeError(
      `task "${task.id}" returned a reference to "${stored[NODE].id}", which is no value: only the decider of a dag.switch(…) or branch(…) returns one`,
    );
  }
  const pushes = taskOptions(task).doXcomPush ?? true;
  return {
    kind: "success",
    ...(pushes && stored !== undefined
      ? { returnValue: encodeValue(stored, request.maxStoredXComBytes ?? request.maxXComBytes) }
      : {}),
    ...(branch === undefined ? {} : { branch }),
    ...(outlets === undefined ? {} : { assetEvents: outlets.events() }),
  };
}

/** What a decider chose, as the ids that other tasks and people can read. */
function idsOf(value: unknown): unknown {
  return Array.isArray(value) ? value.map(idsOf) : isDagEnd(value) ? value[NODE].id : value;
}
