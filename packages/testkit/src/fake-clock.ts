import type { Clock, Timer } from "@millrace/shared/lifecycle";

export interface FakeClock extends Clock {
  /**
   * Moves time on and calls what falls due, in order, each at its own time. Between two calls promises get
   * their turn, so that a loop which waits, works and waits again takes all its rounds.
   */
  advance(ms: number): Promise<void>;
  /** How many timers wait: 0 after a clean stop. */
  readonly pending: number;
}

interface Due {
  readonly at: number;
  readonly fn: () => void;
}

export function fakeClock(startMs = 0): FakeClock {
  let now = startMs;
  const waiting = new Set<Due>();

  const after = (ms: number, fn: () => void): Timer => {
    const due = { at: now + Math.max(0, ms), fn };
    waiting.add(due);
    return { cancel: () => void waiting.delete(due) };
  };
  const advance = async (ms: number): Promise<void> => {
    const target = now + ms;
    await settle();
    for (let next = earliest(waiting); next !== undefined && next.at <= target; next = earliest(waiting)) {
      waiting.delete(next);
      now = Math.max(now, next.at);
      next.fn();
      await settle();
    }
    now = target;
  };
  return {
    now: () => now,
    after,
    advance,
    get pending() {
      return waiting.size;
    },
  };
}

// A set keeps the order of insertion, so of two timers due at once the older one comes first.
function earliest(waiting: ReadonlySet<Due>): Due | undefined {
  let first: Due | undefined;
  for (const due of waiting) if (first === undefined || due.at < first.at) first = due;
  return first;
}

// A macrotask lets every chain of settled promises run to its end.
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
