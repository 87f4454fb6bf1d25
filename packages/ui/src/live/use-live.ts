// One stream of changes a page. It closes while the page is hidden, and `ready` comes whenever it opens: the page loads
// its data then, and misses nothing from there on.
import { useEffect, useRef } from "react";
import type { LiveEvents } from "@millrace/api/types";
import { setLost } from "./connection.ts";

export type LiveHandlers = { readonly [K in keyof LiveEvents]?: (event: LiveEvents[K]) => void } & {
  readonly ready: () => void;
};

const AGAIN_MS = 3_000;
const EVENTS = ["run", "task_instance", "dag"] as const;

export function useLive(scope: { readonly dagId?: string; readonly runId?: string }, handlers: LiveHandlers): void {
  const latest = useRef(handlers);
  useEffect(() => {
    latest.current = handlers;
  });
  const { dagId, runId } = scope;
  useEffect(() => {
    const query = new URLSearchParams();
    if (dagId !== undefined) query.set("dag_id", dagId);
    if (runId !== undefined) query.set("dag_run_id", runId);
    let source: EventSource | undefined;
    let opened = 0;
    let again: ReturnType<typeof setTimeout> | undefined;
    const close = (): void => {
      clearTimeout(again);
      source?.close();
      source = undefined;
      setLost(false);
    };
    const open = (): void => {
      if (source !== undefined || document.hidden) return;
      source = new EventSource(`/api/v2/events?${query.toString()}`);
      // The first data is on its way already when the page opens.
      source.addEventListener("ready", () => {
        setLost(false);
        if (opened++ > 0) latest.current.ready();
      });
      source.addEventListener("error", () => {
        setLost(true);
        // The browser tries again by itself unless it was refused: then the data says why, a login that is over above all.
        if (source?.readyState !== EventSource.CLOSED) return;
        source = undefined;
        again = setTimeout(() => {
          latest.current.ready();
          open();
        }, AGAIN_MS);
      });
      source.addEventListener("reset", () => latest.current.ready());
      for (const name of EVENTS) {
        source.addEventListener(name, (message: MessageEvent<string>) => {
          const handle = latest.current[name] as ((event: unknown) => void) | undefined;
          handle?.(JSON.parse(message.data));
        });
      }
    };
    const follow = (): void => (document.hidden ? close() : open());
    open();
    document.addEventListener("visibilitychange", follow);
    return () => {
      document.removeEventListener("visibilitychange", follow);
      close();
    };
  }, [dagId, runId]);
}
