import type { ReactNode } from "react";
import { StateMark } from "./state-mark.tsx";
import { STATES, wordOf } from "./states.ts";

export function StateLegend(): ReactNode {
  return (
    <ul className="legend" aria-label="What the marks mean">
      {STATES.map((state) => (
        <li key={state}>
          <StateMark state={state} /> {wordOf(state)}
        </li>
      ))}
    </ul>
  );
}
