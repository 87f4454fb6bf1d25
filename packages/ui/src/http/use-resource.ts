import { useCallback, useEffect, useRef, useState } from "react";
import { useGo } from "../router/router.tsx";
import { HttpProblem, request } from "./client.ts";

export interface Resource<T> {
  readonly data: T | undefined;
  readonly error: Error | undefined;
  /** Asks again and keeps what is shown until the answer is there. */
  readonly reload: () => void;
  /** Changes what is shown, as a live event says. */
  readonly update: (change: (data: T) => T) => void;
}

export function useResource<T>(url: string | null): Resource<T> {
  const go = useGo();
  const [state, setState] = useState<{ url: string | null; data?: T; error?: Error }>({ url });
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((n) => n + 1), []);
  const update = useCallback(
    (change: (data: T) => T) => setState((old) => (old.data === undefined ? old : { ...old, data: change(old.data) })),
    [],
  );
  useEffect(() => {
    if (url === null) return;
    const stop = new AbortController();
    request<T>("GET", url, { signal: stop.signal }).then(
      (data) => setState({ url, data }),
      (error: unknown) => {
        if (stop.signal.aborted) return;
        if (error instanceof HttpProblem && needsLogin(error)) return askToLogIn(go);
        const problem = error instanceof Error ? error : new Error(String(error));
        // What was shown stays: stale data with a word about it beats an empty page.
        setState((old) => ({ ...old, url, error: problem }));
      },
    );
    return () => stop.abort();
  }, [url, round, go]);
  return { data: state.data, error: state.error, reload, update };
}

/** Once, though every request of a page is refused: the way back is the page, not the login. */
function askToLogIn(go: (to: string, how: "replace") => void): void {
  const { pathname, search } = window.location;
  if (pathname !== "/login") go(`/login?next=${encodeURIComponent(pathname + search)}`, "replace");
}

const needsLogin = (problem: HttpProblem): boolean => problem.status === 401 || problem.status === 403;

/** At most one call in `ms`, the last one never lost: for reloads that live events ask for. */
export function useThrottled(call: () => void, ms: number): () => void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return useCallback(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      call();
    }, ms);
  }, [call, ms]);
}
