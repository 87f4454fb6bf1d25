// A host in memory, and short ways to run one handler on it, for the tests of this package.
import { Dag, type Json, type TaskOptions } from "../index.ts";
import { artifact } from "./artifact.ts";
import type {
  AssetQuery,
  ConnectionValue,
  ExternalState,
  ExternalStatesQuery,
  Resumed,
  RunHost,
  RunRequest,
  TaskOutcome,
  TriggerDagRunRequest,
  TriggeredDagRun,
  TriggerEvent,
  TriggerOutcome,
  TriggerSpec,
  XComKey,
} from "./protocol.ts";

export class FakeHost implements RunHost {
  readonly controller = new AbortController();
  readonly signal: AbortSignal = this.controller.signal;
  readonly lines: { readonly message: string; readonly stream: Json | undefined }[] = [];
  readonly xcoms = new Map<string, Json>();
  readonly variables = new Map<string, string>();
  /** By the asset's name and the key. */
  readonly assetStates = new Map<string, Json>();
  readonly connections = new Map<string, ConnectionValue>();
  readonly groups: { readonly pid: number; readonly state: string }[] = [];
  /** Runs of other DAGs by id, and what was asked of them. */
  readonly runs = new Map<string, string>();
  readonly triggered: TriggerDagRunRequest[] = [];
  externalStates: readonly ExternalState[] = [];
  readonly queries: ExternalStatesQuery[] = [];
  /** Called with each line: a test's way to wait for output. */
  onLine: (message: string) => void = () => {};

  log(_level: string, message: string, fields?: Readonly<Record<string, Json>>): void {
    this.lines.push({ message, stream: fields?.["stream"] });
    this.onLine(message);
  }

  processGroup(pid: number, state: string): void {
    this.groups.push({ pid, state });
  }

  getXCom(query: XComKey): Promise<Json | undefined> {
    return Promise.resolve(this.xcoms.get(xcomName(query)));
  }

  setXCom(entry: XComKey & { readonly value: Json }): Promise<void> {
    this.xcoms.set(xcomName(entry), entry.value);
    return Promise.resolve();
  }

  readonly getAssetState = (asset: AssetQuery, key: string): Promise<Json | undefined> =>
    Promise.resolve(this.assetStates.get(`${asset.name} ${key}`));

  readonly setAssetState = (asset: AssetQuery, key: string, value: Json): Promise<void> => {
    this.assetStates.set(`${asset.name} ${key}`, value);
    return Promise.resolve();
  };

  getVariable(key: string): Promise<string | undefined> {
    return Promise.resolve(this.variables.get(key));
  }

  setVariable(key: string, value: string): Promise<void> {
    this.variables.set(key, value);
    return Promise.resolve();
  }

  deleteVariable(key: string): Promise<void> {
    this.variables.delete(key);
    return Promise.resolve();
  }

  getConnection(connectionId: string): Promise<ConnectionValue | undefined> {
    return Promise.resolve(this.connections.get(connectionId));
  }

  triggerDagRun(request: TriggerDagRunRequest): Promise<TriggeredDagRun> {
    this.triggered.push(request);
    const { dagId, runId = "manual", resetDagRun = false } = request;
    const outcome = !this.runs.has(runId) ? "created" : resetDagRun ? "reset" : "exists";
    if (outcome !== "exists") this.runs.set(runId, "queued");
    return Promise.resolve({ dagId, runId, outcome });
  }

  getRunState(_dagId: string, runId: string): Promise<string | undefined> {
    return Promise.resolve(this.runs.get(runId));
  }

  getExternalStates(query: ExternalStatesQuery): Promise<readonly ExternalState[]> {
    this.queries.push(query);
    return Promise.resolve(this.externalStates);
  }
}

/** The second half of a try: the event after what its first half left. */
export function resumed(
  event: TriggerEvent,
  state: Json = null,
  seconds = 0,
): { waited: { seconds: number; reschedules: 0; resumed: Resumed } } {
  return { waited: { seconds, reschedules: 0, resumed: { event, state } } };
}

/** Runs a trigger of the file for a task of a DAG. */
export function runTrigger(
  dag: Dag,
  taskId: string,
  trigger: TriggerSpec,
  { host = new FakeHost(), maxXComBytes }: { host?: FakeHost; maxXComBytes?: number } = {},
): Promise<TriggerOutcome> {
  const { inputs: _inputs, ...attempt } = runRequest(
    dag.dagId,
    taskId,
    maxXComBytes === undefined ? {} : { maxXComBytes },
  );
  if (artifact.runTrigger === undefined) throw new Error("the artifact runs no triggers");
  return artifact.runTrigger({ triggerId: 1, trigger, attempt }, host);
}

function xcomName({ dagId, runId, taskId, mapIndex, key }: XComKey): string {
  return `${dagId}/${runId}/${taskId}/${mapIndex}/${key}`;
}

/** The first try of a task in a scheduled run of 2026-01-01. */
export function runRequest(dagId: string, taskId: string, changes: Partial<RunRequest> = {}): RunRequest {
  return {
    dagId,
    taskId,
    runId: "scheduled__2026-01-01T00:00:00+00:00",
    mapIndex: -1,
    tryNumber: 1,
    maxTries: 0,
    logicalDate: "2026-01-01T00:00:00.000Z",
    dataIntervalStart: "2026-01-01T00:00:00.000Z",
    dataIntervalEnd: "2026-01-02T00:00:00.000Z",
    runAfter: "2026-01-02T00:00:00.000Z",
    runType: "scheduled",
    conf: {},
    params: {},
    inputs: {},
    ...changes,
  };
}

let count = 0;

/** Runs a handler as the only task of a DAG. The value is checked here at run time, so types let everything pass. */
export function run(
  handler: () => unknown,
  {
    host = new FakeHost(),
    options = {},
    ...changes
  }: Partial<RunRequest> & { host?: FakeHost; options?: TaskOptions } = {},
): Promise<TaskOutcome> {
  const dag = new Dag(changes.dagId ?? `run_${++count}`);
  dag.task("only", handler, options)();
  return artifact.run(runRequest(dag.dagId, "only", changes), host);
}

/** How a run failed, in one line. */
export async function failure(outcome: Promise<TaskOutcome>): Promise<string> {
  const end = await outcome;
  return end.kind === "failed" ? `${end.error.name}: ${end.error.message}` : `no failure but ${end.kind}`;
}
