/** setTimeout takes no more milliseconds than this. */
export const LONGEST_TIMER = 2 ** 31 - 1;

/** Rejects with the signal's reason when that comes first. */
export async function sleep(seconds: number, signal: AbortSignal): Promise<void> {
  for (let left = seconds * 1000; left > 0; left -= LONGEST_TIMER) {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(end, Math.min(left, LONGEST_TIMER));
      function end(): void {
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
        if (!signal.aborted) resolve();
        else reject(signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason)));
      }
      signal.addEventListener("abort", end);
    });
  }
}
