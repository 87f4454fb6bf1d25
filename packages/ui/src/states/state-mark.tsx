import type { ReactNode } from "react";
import { stateOf, wordOf } from "./states.ts";

/** Only the shape; whoever stands around it says the word. */
export function StateMark({ state }: { readonly state: string | null }): ReactNode {
  const known = stateOf(state);
  return (
    <svg className={`mark state-${known}`} aria-hidden="true">
      <use href={`#state-${known}`} />
    </svg>
  );
}

export function StateBadge({ state }: { readonly state: string | null }): ReactNode {
  const known = stateOf(state);
  return (
    <span className={`badge state-${known}`}>
      <StateMark state={known} />
      <span>{wordOf(known)}</span>
    </span>
  );
}
