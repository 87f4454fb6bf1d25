// What became of the callbacks of a task or a run, as values, and the sentence for each.

/** A callback that was asked for, in the transaction of the change that it is about. */
export interface CallbackView {
  /** `onFailure`, `dagOnSuccess`, … */
  readonly callback: string;
  readonly state: "pending" | "running" | "success" | "failed";
  /** Instant in milliseconds since the epoch: when it was asked for. */
  readonly since: number;
  /** How often a worker has begun it. */
  readonly attempts: number;
  readonly worker: string | null;
  /** What it said when it failed. */
  readonly output: string | null;
  /** Of which try; 0 for a run's. */
  readonly tryNumber: number;
}

export type CallbackCondition =
  | ({ readonly kind: "callback"; readonly hasWorkers: boolean } & CallbackView)
  /** It is declared, its state has come, and nobody asked for it. */
  | { readonly kind: "callback_not_asked"; readonly callback: string; readonly neverRan: boolean };

export function describeCallbackCondition(c: CallbackCondition): string {
  if (c.kind === "callback_not_asked") {
    return c.neverRan
      ? `${c.callback} is not called: it never ran`
      : `${c.callback} is not called: whoever changed the state asked for none`;
  }
  const of = c.tryNumber === 0 ? c.callback : `${c.callback} of try ${c.tryNumber}`;
  const again = c.attempts > 1 ? `, begun ${c.attempts} times` : "";
  switch (c.state) {
    case "pending":
      return `${of} waits for a worker since ${at(c.since)}${c.hasWorkers ? "" : ", and no worker lives"}`;
    case "running":
      return `${of} runs on ${c.worker ?? "a worker"}${again}`;
    case "success":
      return `${of} was called${again}`;
    case "failed":
      return `${of} failed${again}${c.output === null || c.output === "" ? "" : `: ${c.output}`}`;
  }
}

const at = (instant: number): string => new Date(instant).toISOString().replace(/\.\d+Z$/, "Z");
