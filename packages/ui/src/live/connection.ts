// Whether changes reach this page: the stream of events is open, or on its way to be.
import { useSyncExternalStore } from "react";

let isLost = false;
const listeners = new Set<() => void>();

export function setLost(lost: boolean): void {
  if (lost === isLost) return;
  isLost = lost;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** True while the page waits for a server that went away. */
export const useIsLost = (): boolean =>
  useSyncExternalStore(
    subscribe,
    () => isLost,
    () => false,
  );
