import type { TaskOutcome, TriggerEnd } from "../../runtime/index.ts";

/** What it means for a task that its trigger ended it. */
export function outcomeOfEnd({
  state,
  value,
  message = "its trigger ended it",
  retryable = true,
}: TriggerEnd): TaskOutcome {
  switch (state) {
    case "success":
      return { kind: "success", ...(value === undefined ? {} : { returnValue: value }) };
    case "skipped":
      return { kind: "skipped", message };
    case "failed":
      return { kind: "failed", retryable, error: { name: "TriggerEnded", message } };
  }
}
