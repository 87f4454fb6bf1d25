// A host in memory, for the tests of this package.
import type { Json } from "../spec/index.ts";
import type { ConnectionValue, RunHost, RunRequest, XComKey } from "./protocol.ts";

export class FakeHost implements RunHost {
  readonly controller = new AbortController();
  readonly signal: AbortSignal = this.controller.signal;
  readonly lines: { readonly message: string; readonly stream: Json | undefined }[] = [];
  readonly xcoms = new Map<string, Json>();
  readonly variables = new Map<string, string>();
  readonly connections = new Map<string, ConnectionValue>();
  /** Called with each line: a test's way to wait for output. */
  onLine: (message: string) => void = () => {};

  log(_level: string, message: string, fields?: Readonly<Record<string, Json>>): void {
    this.lines.push({ message, stream: fields?.["stream"] });
    this.onLine(message);
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
    maxTries: 1,
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
