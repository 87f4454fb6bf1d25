import type { ReactNode } from "react";
import type { DagLines, ImportErrorCollection } from "@millrace/api/types";
import { useNow } from "../format/use-now.ts";
import { useResource, useThrottled } from "../http/use-resource.ts";
import { pauseInLines, runInLines } from "../live/apply-events.ts";
import { useLive } from "../live/use-live.ts";
import { usePausing } from "../pausing/use-pausing.tsx";
import { useQuery } from "../router/router.tsx";
import { Loading, Problem } from "../shell/notices.tsx";
import { DagFilters } from "./dag-filters.tsx";
import { DagList } from "./dag-list.tsx";
import { ImportErrors } from "./import-errors.tsx";
import { Pager } from "../shell/pager.tsx";

const PAGE = 50;
const RELOAD_MS = 3_000;

export function DagsPage(): ReactNode {
  const [search] = useQuery("search");
  const [paused] = useQuery("paused");
  const [offset] = useQuery("offset");
  const query = new URLSearchParams({ limit: String(PAGE), offset: offset === "" ? "0" : offset });
  if (search !== "") query.set("dag_id_pattern", search);
  if (paused !== "") query.set("paused", paused);
  const lines = useResource<DagLines>(`/ui/dags?${query.toString()}`);
  const errors = useResource<ImportErrorCollection>("/api/v2/importErrors?limit=100");
  const now = useNow(15_000);
  const reload = (): void => {
    lines.reload();
    errors.reload();
  };
  const reloadSoon = useThrottled(reload, RELOAD_MS);
  useLive(
    {},
    {
      ready: reload,
      run: (event) => {
        lines.update((shown) => runInLines(shown, event));
        // The next run moves when one is created.
        reloadSoon();
      },
      dag: (event) => {
        lines.update((shown) => pauseInLines(shown, event));
        reloadSoon();
      },
    },
  );
  const pausing = usePausing({
    now,
    onChange: (dagId, isPaused) => lines.update((shown) => pauseInLines(shown, { dag_id: dagId, is_paused: isPaused })),
    onSettled: lines.reload,
  });
  return (
    <>
      <div className="title">
        <h1>DAGs</h1>
        {lines.data === undefined ? null : <span className="count">{lines.data.total_entries}</span>}
        <span className="grow" />
        <DagFilters />
      </div>
      <ImportErrors errors={errors.data?.import_errors ?? []} />
      <Problem error={pausing.error ?? lines.error} />
      {lines.data === undefined ? (
        lines.error === undefined && <Loading what="DAGs" />
      ) : (
        <>
          <DagList
            dags={lines.data.dags}
            now={now}
            filtered={search !== "" || paused !== ""}
            onPause={pausing.toggle}
          />
          <Pager total={lines.data.total_entries} size={PAGE} />
        </>
      )}
      {pausing.dialog}
    </>
  );
}
