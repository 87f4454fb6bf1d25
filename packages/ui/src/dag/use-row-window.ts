// Of a long grid only the lines near what is seen exist: a thousand tasks by twenty-five runs would be twenty-five
// thousand marks. A short grid is whole, so that find and print see it.
import { useState, type UIEvent } from "react";

export const ROW_HEIGHT = 30;
const WHOLE_UP_TO = 150;
const SHOWN = 90;
const BEFORE = 20;

export interface RowWindow {
  readonly windowed: boolean;
  readonly from: number;
  readonly to: number;
  readonly onScroll: (event: UIEvent<HTMLElement>) => void;
}

/** Lines `from` to `to` for a scroll position; moves in steps, so that most of a scroll changes nothing. */
export function windowAt(scrollTop: number, count: number): { readonly from: number; readonly to: number } {
  if (count <= WHOLE_UP_TO) return { from: 0, to: count };
  const top = Math.floor(scrollTop / ROW_HEIGHT / 10) * 10;
  const from = Math.max(0, Math.min(top - BEFORE, count - SHOWN));
  return { from, to: Math.min(count, from + SHOWN) };
}

export function useRowWindow(count: number): RowWindow {
  const [from, setFrom] = useState(0);
  const windowed = count > WHOLE_UP_TO;
  return {
    windowed,
    from: windowed ? from : 0,
    to: windowed ? Math.min(count, from + SHOWN) : count,
    onScroll: (event) => setFrom(windowAt(event.currentTarget.scrollTop, count).from),
  };
}
