import { useCallback, useEffect, useState } from "react";
import type { LogPage } from "@millrace/api/types";
import { request } from "../http/client.ts";
import { addPage, EMPTY_WINDOW, hasMore, type LogWindow } from "./log-window.ts";

const FOLLOW_MS = 1_000;

export interface Log {
  readonly window: LogWindow;
  readonly error: Error | undefined;
  readonly loading: boolean;
  readonly more: () => void;
  readonly toStart: () => void;
  readonly toEnd: () => void;
}

/** Reads a log page by page, and follows it at its end while the try goes on and the page is seen. */
export function useLog(url: string): Log {
  const [from, setFrom] = useState<{ readonly tail: boolean }>({ tail: false });
  const [asked, setAsked] = useState(0);
  const [log, setLog] = useState<LogWindow>(EMPTY_WINDOW);
  const [error, setError] = useState<Error>();
  const [loading, setLoading] = useState(true);

  useEffect(() => {
    const stop = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const follow = (): void => {
      if (document.hidden) timer = setTimeout(follow, FOLLOW_MS);
      else setAsked((n) => n + 1);
    };
    const first = log.blocks.length === 0 && log.token === "0";
    const where = first && from.tail ? "tail=true" : `token=${log.token ?? 0}`;
    request<LogPage>("GET", `${url}&${where}`, { signal: stop.signal }).then(
      (page) => {
        const grown = addPage(log, page);
        setError(undefined);
        setLoading(false);
        setLog(grown);
        if (grown.token !== null && !hasMore(grown)) {
          timer = setTimeout(follow, FOLLOW_MS);
        }
      },
      (problem: Error) => {
        if (stop.signal.aborted) return;
        setLoading(false);
        setError(problem);
      },
    );
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
    // The window is what the last answer left; asking again is what `asked` says.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [url, from, asked]);

  const restart = useCallback((tail: boolean) => {
    setLog(EMPTY_WINDOW);
    setLoading(true);
    setFrom({ tail });
  }, []);
  return {
    window: log,
    error,
    loading,
    more: useCallback(() => setAsked((n) => n + 1), []),
    toStart: useCallback(() => restart(false), [restart]),
    toEnd: useCallback(() => restart(true), [restart]),
  };
}
