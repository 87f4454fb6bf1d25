// The only list of dag-run states and of the changes between them; see task-state.ts.

export const RUN_STATES = ["queued", "running", "success", "failed"] as const;
export type RunState = (typeof RUN_STATES)[number];

export const ACTIVE_RUN_STATES = ["queued", "running"] as const;

export const RUN_TYPES = ["scheduled", "manual", "backfill", "asset_triggered", "asset_materialization"] as const;
export type RunType = (typeof RUN_TYPES)[number];

export interface RunTransition {
  readonly from: RunState;
  readonly to: RunState;
  readonly actor: "scheduler" | "user";
  readonly why: string;
}

export const RUN_TRANSITIONS: readonly RunTransition[] = [
  { from: "queued", to: "running", actor: "scheduler", why: "admitted, and one of its tasks can go" },
  { from: "queued", to: "success", actor: "scheduler", why: "it has no tasks" },
  { from: "running", to: "success", actor: "scheduler", why: "every leaf succeeded or was skipped" },
  { from: "running", to: "failed", actor: "scheduler", why: "a leaf failed, nothing can go on, or it timed out" },
  { from: "running", to: "queued", actor: "scheduler", why: "it can do nothing and gives its place to an older run" },
  { from: "queued", to: "failed", actor: "user", why: "marked or cancelled" },
  { from: "success", to: "queued", actor: "user", why: "cleared" },
  { from: "failed", to: "queued", actor: "user", why: "cleared" },
  { from: "success", to: "failed", actor: "user", why: "marked" },
  { from: "failed", to: "success", actor: "user", why: "marked" },
];

export const RUN_EDGES: ReadonlySet<string> = new Set(RUN_TRANSITIONS.map((t) => `${t.from}>${t.to}`));
