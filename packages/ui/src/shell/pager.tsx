import type { ReactNode } from "react";
import { useQuery } from "../router/router.tsx";

/** By the query's `offset`. Nothing when all is on one page. */
export function Pager({ total, size }: { readonly total: number; readonly size: number }): ReactNode {
  const [offset, setOffset] = useQuery("offset");
  if (total <= size) return null;
  const from = Number(offset) || 0;
  const to = Math.min(from + size, total);
  return (
    <nav className="pager" aria-label="Pages">
      <button
        type="button"
        disabled={from === 0}
        onClick={() => setOffset(from - size <= 0 ? "" : String(from - size))}
      >
        Previous
      </button>
      <span>
        {from + 1}–{to} of {total}
      </span>
      <button type="button" disabled={to >= total} onClick={() => setOffset(String(from + size))}>
        Next
      </button>
    </nav>
  );
}
