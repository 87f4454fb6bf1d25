// What `dag.test()` takes and gives, and how it comes by the testing entry, which is no part of a bundle.
import type { Artifact, ConnectionValue, TaskError } from "../runtime/protocol.ts";
import type { DagSpec, Json } from "../spec/index.ts";

/** In place of a handler: its value, a function of its argument, or the error that it throws. */
// oxlint-disable-next-line typescript/no-explicit-any -- any argument type: the handler's own is checked nowhere else
export type TaskMock = Json | Error | ((args: any) => unknown);

/** Options of `dag.test()`. */
export interface DagTestOptions {
  /** @default now; null for a run without a logical date */
  readonly logicalDate?: Date | null;
  /** What the run is started with. @default {} */
  readonly conf?: Readonly<Record<string, Json>>;
  /** By task id: what runs in place of its handler. An unknown id is an error. */
  readonly mocks?: Readonly<Record<string, TaskMock>>;
  /** By task id: names of its argument that are given in place of what its upstreams return. */
  readonly inputs?: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  /** What `getVariable` finds. */
  readonly variables?: Readonly<Record<string, string>>;
  /** What `getConnection` finds. */
  readonly connections?: Readonly<Record<string, Omit<ConnectionValue, "connectionId">>>;
  /** Only this task runs; its upstreams count as done, with the values of their mocks. */
  readonly only?: string;
  /** Into how many instances one task may be expanded, as `core.max_map_length` says in production. @default 1024 */
  readonly maxMapLength?: number;
  /** Tasks at once. @default 16 */
  readonly concurrency?: number;
  /** Ends the run. */
  readonly signal?: AbortSignal;
}

export interface DagTestLogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
}

export interface DagTestTask {
  /** As in production: `success`, `failed`, `skipped`, `upstream_failed`; `none` when it never came to it. */
  readonly state: string;
  readonly tryNumber: number;
  /** What it returned, as the tasks after it are given it. */
  readonly value: unknown;
  /** By key, `return_value` among them. */
  readonly xcoms: Readonly<Record<string, unknown>>;
  /** What its handler wrote to the console and to its log. */
  readonly logs: readonly DagTestLogLine[];
  /** Of its last try. */
  readonly error: TaskError | undefined;
  /** Why it was skipped, or is as it is without having run. */
  readonly reason: string | undefined;
}

/** What `dag.test()` gives. */
export interface DagTestResult {
  readonly runId: string;
  readonly state: "success" | "failed";
  /** By task id; the instances of a mapped task as `task[0]`, `task[1]` and so on. */
  readonly tasks: Readonly<Record<string, DagTestTask>>;
}

interface TestingEntry {
  testArtifact(artifact: Artifact, spec: DagSpec, options: DagTestOptions): Promise<DagTestResult>;
}

// No literal, so that no bundler follows it: a DAG's bundle is to hold none of it.
const TESTING = ["@millrace/sdk", "testing"].join("/");

export async function loadTesting(): Promise<TestingEntry> {
  try {
    return (await import(TESTING)) as TestingEntry; // what src/testing/index.ts exports
  } catch (cause) {
    throw new Error(
      "dag.test() works where the millrace packages are installed, not within a bundle: see the guide on testing",
      {
        cause,
      },
    );
  }
}
