import type { ReactNode } from "react";
import { Problem } from "../shell/notices.tsx";
import { LogView } from "./log-view.tsx";
import { hasMore } from "./log-window.ts";
import { useLog } from "./use-log.ts";

export function LogPanel({ url, started }: { readonly url: string; readonly started: boolean }): ReactNode {
  return started ? <StartedLog url={url} /> : <p className="empty">It has not started yet; its log will be here.</p>;
}

function StartedLog({ url }: { readonly url: string }): ReactNode {
  const log = useLog(url);
  const more = hasMore(log.window);
  return (
    <section aria-labelledby="log">
      <div className="title small">
        <h2 id="log">Log</h2>
        {log.window.token !== null && !more && log.error === undefined ? <span className="tag live">live</span> : null}
        <span className="grow" />
        {log.window.cutBefore ? (
          <button type="button" onClick={log.toStart}>
            From the start
          </button>
        ) : null}
        {more ? (
          <button type="button" onClick={log.toEnd}>
            To the end
          </button>
        ) : null}
      </div>
      <Problem error={log.error} />
      <LogView window={log.window} loading={log.loading} />
      {more ? (
        <button type="button" className="wide" onClick={log.more}>
          More lines
        </button>
      ) : null}
    </section>
  );
}
