import type { DagReading, PlanAnswer } from "@millrace/sdk/runtime";

/** The one message that a child process sends about the file it was given. */
export type ChildReport =
  | { readonly kind: "dags"; readonly dags: readonly DagReading[] }
  | { readonly kind: "plan"; readonly answer: PlanAnswer }
  /** The code threw, at once or later; `stack` is of the bundle. */
  | { readonly kind: "thrown"; readonly stack: string }
  /** The code called process.exit. */
  | { readonly kind: "exit"; readonly code: string; readonly stack: string };
