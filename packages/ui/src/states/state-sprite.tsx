// The shapes, once a page; marks refer to them. 16 × 16, drawn in the colour of the text around them.
import type { ReactNode } from "react";
import type { State } from "./states.ts";

const line = {
  fill: "none",
  stroke: "currentColor",
  strokeWidth: 1.8,
  strokeLinecap: "round",
  strokeLinejoin: "round",
} as const;
const onFill = { ...line, stroke: "var(--surface)" } as const;

const SHAPES: Readonly<Record<State, ReactNode>> = {
  success: (
    <>
      <circle cx="8" cy="8" r="7" fill="currentColor" />
      <path d="M4.8 8.2l2.2 2.3 4.2-4.6" {...onFill} />
    </>
  ),
  running: (
    <>
      <circle cx="8" cy="8" r="6.2" {...line} />
      <path d="M6.4 5.2v5.6L11 8z" fill="currentColor" />
    </>
  ),
  failed: (
    <>
      <rect x="1.2" y="1.2" width="13.6" height="13.6" rx="3" fill="currentColor" />
      <path d="M5.4 5.4l5.2 5.2m0-5.2l-5.2 5.2" {...onFill} />
    </>
  ),
  upstream_failed: (
    <>
      <rect x="2" y="2" width="12" height="12" rx="2.5" {...line} />
      <path d="M8 11V5.4M5.6 7.6L8 5.2l2.4 2.4" {...line} />
    </>
  ),
  up_for_retry: (
    <>
      <path d="M13.6 8a5.6 5.6 0 1 1-1.7-4" {...line} />
      <path d="M13.8 1.6v3.2h-3.2" {...line} />
    </>
  ),
  up_for_reschedule: (
    <>
      <circle cx="8" cy="8" r="6.2" {...line} />
      <path d="M8 4.6V8l2.4 1.6" {...line} />
    </>
  ),
  restarting: (
    <>
      <path d="M2.4 8a5.6 5.6 0 0 1 9.6-4M13.6 8A5.6 5.6 0 0 1 4 12" {...line} />
      <path d="M12.4 1.4V4H9.8M3.6 14.6V12h2.6" {...line} />
    </>
  ),
  shutdown: (
    <>
      <path d="M4.4 4.4a5.4 5.4 0 1 0 7.2 0" {...line} />
      <path d="M8 1.8v5" {...line} />
    </>
  ),
  deferred: <path d="M4 2h8M4 14h8M5 2c0 4 6 8 6 12M11 2c0 4-6 8-6 12" {...line} />,
  queued: (
    <>
      <circle cx="8" cy="8" r="6.2" {...line} />
      <path d="M5.4 8h.01M8 8h.01M10.6 8h.01" {...line} />
    </>
  ),
  scheduled: <circle cx="8" cy="8" r="6.2" {...line} strokeDasharray="2.2 2.7" />,
  skipped: <path d="M3 3.6L7.4 8 3 12.4M8.6 3.6L13 8l-4.4 4.4" {...line} />,
  removed: <path d="M3.4 8h9.2" {...line} />,
  none: <circle cx="8" cy="8" r="2.6" {...line} strokeWidth={1.4} />,
};

export function StateSprite(): ReactNode {
  return (
    <svg className="sprite" aria-hidden="true">
      {Object.entries(SHAPES).map(([state, shape]) => (
        <symbol key={state} id={`state-${state}`} viewBox="0 0 16 16">
          {shape}
        </symbol>
      ))}
    </svg>
  );
}
