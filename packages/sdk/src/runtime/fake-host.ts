// A host in memory, and short ways to run one handler on it, for the tests of this package.
import { Dag, type Json, type TaskOptions } from "../index.ts";
import { artifact } from "./artifact.ts";
import type { ConnectionValue, RunHost, RunRequest, TaskOutcome, XComKey } from "./protocol.ts";

export class FakeHost implements RunHost {
  readonly controller = new AbortController();
  readonly signal: AbortSignal = this.controller.signal;
  readonly lines: { readonly message: string; readonly stream: Json | undefined }[] = [];
  readonly xcoms = new Map<string, Json>();
  readonly variables = new Map<string, string>();
  readonly connections = new Map<string, ConnectionValue>();
  readonly groups: { readonly pid: number; readonly state: string }[] = [];
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
