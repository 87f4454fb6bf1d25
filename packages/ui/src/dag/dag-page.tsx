import { useState, type ReactNode } from "react";
import type { Dag, DagPreview, DagSource, DagVersion, Grid } from "@millrace/api/types";
import { PauseSwitch } from "../dags/pause-switch.tsx";
import { useNow } from "../format/use-now.ts";
import { When } from "../format/when.tsx";
import { request } from "../http/client.ts";
import { useResource, useThrottled } from "../http/use-resource.ts";
import { runInGrid, taskInGrid } from "../live/apply-events.ts";
import { useLive } from "../live/use-live.ts";
import { Link, useQuery } from "../router/router.tsx";
import { Crumbs, Loading, Problem } from "../shell/notices.tsx";
import { DagGrid } from "./dag-grid.tsx";
import { PreviewView } from "./preview-view.tsx";
import { SourceView } from "./source-view.tsx";
import { Tabs } from "./tabs.tsx";
import { TriggerDialog } from "./trigger-dialog.tsx";
import { previewUrl, UnpauseDialog } from "./unpause-dialog.tsx";

const TABS = [
  ["", "Grid"],
  ["preview", "Coming runs"],
  ["source", "Source"],
] as const;

export function DagPage({ dagId }: { readonly dagId: string }): ReactNode {
  const id = encodeURIComponent(dagId);
  const [tab, setTab] = useQuery("tab");
  const [asking, setAsking] = useState<"trigger" | "unpause">();
  const dag = useResource<Dag>(`/api/v2/dags/${id}`);
  const grid = useResource<Grid>(`/ui/dags/${id}/grid`);
  const [version, setVersion] = useQuery("version");
  const wanted = version === "" ? "" : `?version_number=${encodeURIComponent(version)}`;
  const source = useResource<DagSource>(tab === "source" ? `/api/v2/dagSources/${id}${wanted}` : null);
  const versions = useResource<{ readonly dag_versions: readonly DagVersion[] }>(
    tab === "source" ? `/api/v2/dags/${id}/dagVersions` : null,
  );
  const preview = useResource<DagPreview>(tab === "preview" ? previewUrl(dagId, false) : null);
  const now = useNow(1_000, grid.data?.runs.some((run) => run.state === "running") === true);
  const reload = (): void => {
    dag.reload();
    grid.reload();
    preview.reload();
  };
  const reloadSoon = useThrottled(reload, 1_500);
  const applied = (change: (shown: Grid) => Grid | null): void =>
    grid.update((shown) => {
      const next = change(shown);
      if (next === null) reloadSoon();
      return next ?? shown;
    });
  useLive(
    { dagId },
    {
      ready: reload,
      run: (event) => applied((shown) => runInGrid(shown, event)),
      task_instance: (event) => applied((shown) => taskInGrid(shown, event)),
      dag: dag.reload,
    },
  );
  const setPaused = (_: string, isPaused: boolean): void => {
    dag.update((shown) => ({ ...shown, is_paused: isPaused }));
    void request("PATCH", `/api/v2/dags/${id}`, { body: { is_paused: isPaused } }).finally(() => {
      dag.reload();
      preview.reload();
    });
  };
  // Only what is scheduled can surprise.
  const pause = (_: string, isPaused: boolean): void =>
    isPaused || dag.data?.timetable_summary === null ? setPaused(dagId, isPaused) : setAsking("unpause");
  const shown = tab === "source" ? source : tab === "preview" ? preview : grid;
  return (
    <>
      <Crumbs>
        <Link to="/dags">DAGs</Link>
        <span aria-current="page">{dagId}</span>
      </Crumbs>
      <DagHead dag={dag.data} dagId={dagId} now={now} onPause={pause} onTrigger={() => setAsking("trigger")} />
      <Problem error={dag.error ?? shown.error} />
      <Tabs label="Views of the DAG" tabs={TABS} chosen={tab} onChoose={setTab} />
      {tab === "preview" ? (
        preview.error === undefined && <PreviewView preview={preview.data} now={now} />
      ) : tab === "source" ? (
        <SourceView source={source.data} versions={versions.data?.dag_versions ?? []} onChoose={setVersion} />
      ) : grid.data === undefined ? (
        grid.error === undefined && <Loading what="runs" />
      ) : (
        <DagGrid grid={grid.data} now={now} />
      )}
      {asking === "trigger" ? <TriggerDialog dagId={dagId} onClose={() => setAsking(undefined)} /> : null}
      {asking === "unpause" ? (
        <UnpauseDialog
          dagId={dagId}
          now={now}
          onUnpause={() => setPaused(dagId, false)}
          onClose={() => setAsking(undefined)}
        />
      ) : null}
    </>
  );
}

export function DagHead(props: {
  readonly dag: Dag | undefined;
  readonly dagId: string;
  readonly now: number;
  readonly onPause: (dagId: string, isPaused: boolean) => void;
  readonly onTrigger: () => void;
}): ReactNode {
  const { dag, dagId, now, onPause, onTrigger } = props;
  return (
    <>
      <div className="title">
        {dag === undefined ? null : <PauseSwitch dagId={dagId} isPaused={dag.is_paused} onPause={onPause} />}
        <h1>{dag?.dag_display_name ?? dagId}</h1>
        {dag?.tags.map((tag) => (
          <span key={tag.name} className="tag">
            {tag.name}
          </span>
        ))}
        <span className="grow" />
        <button type="button" className="primary" onClick={onTrigger}>
          Trigger a run
        </button>
      </div>
      {dag === undefined ? null : (
        <dl className="facts">
          <div>
            <dt>Schedule</dt>
            <dd>{dag.timetable_summary === null ? "by hand" : <code>{dag.timetable_summary}</code>}</dd>
          </div>
          <div>
            <dt>Next run</dt>
            <dd>{dag.is_paused ? "paused" : <When at={dag.next_dagrun_run_after} now={now} />}</dd>
          </div>
          <div>
            <dt>Owner</dt>
            <dd>{dag.owners.length === 0 ? "—" : dag.owners.join(", ")}</dd>
          </div>
          <div>
            <dt>File</dt>
            <dd>
              <code>{dag.relative_fileloc ?? "—"}</code>
            </dd>
          </div>
          {dag.description === null ? null : (
            <div>
              <dt>About</dt>
              <dd>{dag.description}</dd>
            </div>
          )}
        </dl>
      )}
    </>
  );
}
