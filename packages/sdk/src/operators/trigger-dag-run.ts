// Starting a run of another DAG, and waiting for it. The run is named by the attempt that starts it, so that a repeat of
// the same attempt, after a lost answer or a lost worker, finds its own run instead of starting a second one.
import { createHash } from "node:crypto";
import type { NoArguments } from "../authoring/handlers.ts";
import { SkipTask } from "../errors/task-signals.ts";
import { DagRunAlreadyExists, ExternalTaskFailed, TriggerFailed, TriggerTimeout } from "../errors/wait-errors.ts";
import { boolean, checkOptions, date, name, seconds, show, type Check } from "../reading/checks.ts";
import { wrongId } from "../reading/ids.ts";
import type { Resumed } from "../runtime/protocol.ts";
import type { RunScope } from "../runtime/run-scope.ts";
import { sleep } from "../runtime/sleep.ts";
import type { ExternalStatesEvent, ExternalStatesKwargs, Json } from "../spec/index.ts";
import { Trigger } from "../triggers/trigger.ts";
import { encodeJson } from "../values/encode-json.ts";
import { defer, type Pause } from "../waiting/pause.ts";
import { Operator } from "./operator.ts";
import type { RenderedFields } from "../templates/render-fields.ts";
import type { PerRun } from "./per-run.ts";
import { dateField, orTemplate, textField } from "./read-fields.ts";

const RUN_STATES = ["queued", "running", "success", "failed"];

/** What {@link triggerDagRun} and `dag.triggerDagRun` have in common. Durations are seconds. */
export interface TriggerDagRunSettings<A extends object = NoArguments> {
  /** The DAG to run. A template. */
  readonly dagId: string;
  /** @default one that is derived from this attempt, so that each try starts a run of its own, and only one. A template. */
  readonly runId?: PerRun<string, A>;
  /** The logical date of the new run: a Date, or a template for one. @default the moment at which it is started */
  readonly logicalDate?: PerRun<Date | string | null, A>;
  /** Shown with the run. A template. */
  readonly note?: PerRun<string, A>;
  /** Clear a run of this id that exists, and let it run again, instead of failing. @default false */
  readonly resetDagRun?: boolean;
  /** Skip this task, instead of failing it, when there is a run of this id. @default false */
  readonly skipWhenAlreadyExists?: boolean;
  /** Fail when the DAG is paused. @default false: the run waits until it is not */
  readonly failWhenDagIsPaused?: boolean;
  /** Succeed only when the run has ended in one of `allowedStates`. @default false */
  readonly waitForCompletion?: boolean;
  /** Between two looks at the run. @default 60 */
  readonly pokeInterval?: number;
  /** @default ["success"] */
  readonly allowedStates?: readonly string[];
  /** Fail as soon as the run is in one of these. @default ["failed"] */
  readonly failedStates?: readonly string[];
  /**
   * Wait in a triggerer. Airflow's default is false; but a parent that waits in a worker holds the slot that its child may
   * need. @default true with `waitForCompletion`
   */
  readonly deferrable?: boolean;
}

/** The options of {@link triggerDagRun}. */
export interface TriggerDagRunOptions<A extends object = NoArguments> extends TriggerDagRunSettings<A> {
  /** What the run is started with. @default \{\} */
  readonly conf?: PerRun<Readonly<Record<string, Json>>, A>;
}

/** The run that was started. */
export interface TriggeredRun {
  readonly dagId: string;
  readonly runId: string;
}

/**
 * Starts a run of another DAG; its value says which. Airflow's `TriggerDagRunOperator`, with its rules for a run id that is
 * taken. A DAG that does not exist, or is paused with `failWhenDagIsPaused`, fails the task.
 */
export function triggerDagRun<A extends object = NoArguments>(
  options: TriggerDagRunOptions<A>,
): Operator<A, TriggeredRun> {
  return new Operator({
    name: "trigger_dag_run",
    problems: wrongOptions(options),
    fields: {
      dagId: { value: options.dagId },
      runId: { value: options.runId },
      logicalDate: { value: options.logicalDate },
      note: { value: options.note },
      conf: { value: options.conf },
    },
    run: async (_inputs, scope, fields) => {
      const resumed = scope.waited?.resumed;
      if (resumed !== undefined) return conclude(options, resumed);
      const started = await start(options, fields, scope);
      if (options.waitForCompletion !== true) return started;
      return (options.deferrable ?? true)
        ? deferUntilEnd(options, started, scope)
        : pollUntilEnd(options, started, scope);
    },
  });
}

/** Where a try keeps under which id it asked for a run: Airflow's key, too. */
const RUN_ID_KEY = "trigger_run_id";

async function start(
  options: TriggerDagRunOptions<never>,
  fields: RenderedFields,
  { host, client, context, maxXComBytes }: RunScope,
): Promise<TriggeredRun> {
  if (host.triggerDagRun === undefined) throw new Error("this worker cannot start runs of other DAGs");
  const { resetDagRun = false, failWhenDagIsPaused = false } = options;
  const dagId = textField(fields, "dagId");
  if (wrongId(dagId) !== undefined) throw new TypeError(`dagId must be an id, got ${show(dagId)}`);
  const own = ownRunId(context.idempotencyKey, context.logicalDate ?? context.runAfter);
  const runId = fields["runId"] === undefined ? own : textField(fields, "runId");
  const hasAsked = (await client.getXCom({ key: RUN_ID_KEY })) === runId;
  if (hasAsked && (await host.getRunState?.(dagId, runId)) !== undefined) return { dagId, runId };
  await client.setXCom({ key: RUN_ID_KEY, value: runId });
  const note = fields["note"] === undefined ? undefined : textField(fields, "note");
  const conf = encodeJson(fields["conf"] ?? {}, maxXComBytes);
  const { outcome } = await host.triggerDagRun({
    ...{ dagId, runId, resetDagRun, failWhenDagIsPaused },
    conf: conf as Readonly<Record<string, Json>>, // an object stays one
    ...(fields["logicalDate"] === undefined ? {} : { logicalDate: logicalDateOf(fields) }),
    ...(note === undefined ? {} : { note }),
  });
  if (outcome !== "exists" || runId === own) return { dagId, runId };
  const message = `DAG "${dagId}" has a run "${runId}" already`;
  throw options.skipWhenAlreadyExists === true ? new SkipTask(message) : new DagRunAlreadyExists(message);
}

const logicalDateOf = (fields: RenderedFields): string | null =>
  fields["logicalDate"] === null ? null : dateField(fields, "logicalDate").toISOString();

/** Short and readable, and another one for each try. */
function ownRunId(idempotencyKey: string, about: Date): string {
  return `triggered__${about.toISOString()}__${createHash("sha256").update(idempotencyKey).digest("hex").slice(0, 16)}`;
}

const allowed = (options: TriggerDagRunSettings<never>) => options.allowedStates ?? ["success"];
const rejected = (options: TriggerDagRunSettings<never>) => options.failedStates ?? ["failed"];

function deferUntilEnd(options: TriggerDagRunOptions<never>, started: TriggeredRun, scope: RunScope): Pause {
  const kwargs: ExternalStatesKwargs = {
    dagId: started.dagId,
    runIds: [started.runId],
    allowedStates: allowed(options),
    failedStates: rejected(options),
    skippedStates: [],
    checkExistence: false,
    pollSeconds: options.pokeInterval ?? 60,
  };
  return defer(new Trigger("millrace.external_states", kwargs), { state: started }, scope);
}

function conclude(options: TriggerDagRunOptions<never>, { event, state }: Resumed): TriggeredRun {
  const started = state as unknown as TriggeredRun; // as deferUntilEnd kept it
  if (event.kind === "timeout") throw new TriggerTimeout("millrace.external_states");
  if (event.kind === "failed") throw new TriggerFailed("millrace.external_states", event.error);
  const { outcome, states } = event.payload as unknown as ExternalStatesEvent; // what that trigger gives
  if (outcome === "allowed") return started;
  const found = states.map((run) => run.state).find((found) => rejected(options).includes(found));
  throw endedAs(started, found ?? "failed");
}

async function pollUntilEnd(
  options: TriggerDagRunOptions<never>,
  started: TriggeredRun,
  { host }: RunScope,
): Promise<TriggeredRun> {
  if (host.getRunState === undefined) throw new Error("this worker cannot see the states of other runs");
  for (;;) {
    const state = await host.getRunState(started.dagId, started.runId);
    if (state === undefined) throw endedAs(started, "gone");
    if (rejected(options).includes(state)) throw endedAs(started, state);
    if (allowed(options).includes(state)) return started;
    await sleep(options.pokeInterval ?? 60, host.signal);
  }
}

const endedAs = ({ dagId, runId }: TriggeredRun, state: string): ExternalTaskFailed =>
  new ExternalTaskFailed(`the run "${runId}" of DAG "${dagId}" is ${state}`);

function wrongOptions(options: TriggerDagRunOptions<never>): readonly string[] {
  const states: Check = (value) =>
    Array.isArray(value) && value.every((state) => RUN_STATES.includes(String(state)))
      ? undefined
      : `must be an array of ${RUN_STATES.join(", ")}, got ${show(value)}`;
  return [
    ...(options.dagId === undefined ? ["dagId is missing"] : []),
    ...checkOptions(options, {
      dagId: orTemplate((value) =>
        typeof value === "string" && wrongId(value) === undefined ? undefined : `must be an id, got ${show(value)}`,
      ),
      runId: orTemplate(name(250)),
      logicalDate: orTemplate((value) => (value === null ? undefined : date(value))),
      note: orTemplate(name(1000)),
      conf: orTemplate(wrongConf),
      resetDagRun: boolean,
      skipWhenAlreadyExists: boolean,
      failWhenDagIsPaused: boolean,
      waitForCompletion: boolean,
      pokeInterval: seconds("positive"),
      allowedStates: states,
      failedStates: states,
      deferrable: boolean,
    }),
  ];
}

const wrongConf: Check = (value) => {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return `must be an object, got ${show(value)}`;
  try {
    encodeJson(value);
    return undefined;
  } catch (error) {
    return `cannot be stored: ${error instanceof Error ? error.message : String(error)}`;
  }
};
