// A process clock only bounds waiting; what is stored is decided by the database's clock.
export type Timer = { readonly cancel: () => void };

export interface Clock {
  /** Milliseconds that only go forward; their zero means nothing. */
  now(): number;
  /** Calls `fn` once after `ms`. A pending timer does not keep the process alive. */
  after(ms: number, fn: () => void): Timer;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after: (ms, fn) => {
    const handle = setTimeout(fn, ms);
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
};
