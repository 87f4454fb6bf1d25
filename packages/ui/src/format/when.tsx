import type { ReactNode } from "react";
import { formatRelative, formatTime } from "./time.ts";

/** A time with how far away it is. */
export function When({ at, now }: { readonly at: string | null; readonly now: number }): ReactNode {
  if (at === null) return <span className="quiet">—</span>;
  return (
    <time dateTime={at} title={at}>
      {formatTime(at)} <span className="quiet">{formatRelative(at, now)}</span>
    </time>
  );
}
