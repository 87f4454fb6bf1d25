import { useState, type ReactNode } from "react";
import type { Dag, DagPreview, DagSource, DagVersion, Grid } from "@millrace/api/types";
import { scheduleOf } from "../format/schedule.ts";
import { useNow } from "../format/use-now.ts";
import { When } from "../format/when.tsx";
import { useResource, useThrottled } from "../http/use-resource.ts";
import { runInGrid, taskInGrid } from "../live/apply-events.ts";
import { useLive } from "../live/use-live.ts";
import { PauseSwitch } from "../pausing/pause-switch.tsx";
import { usePausing } from "../pausing/use-pausing.tsx";
import { previewUrl, PreviewView } from "../preview/preview-view.tsx";
import { Link, useQuery } from "../router/router.tsx";
import { Crumbs, Loading, Problem } from "../shell/notices.tsx";
import { DagGrid } from "./dag-grid.tsx";
import { SourceView } from "./source-view.tsx";
import { Tabs } from "./tabs.tsx";
import { TriggerDialog } from "./trigger-dialog.tsx";

const TABS = [
  ["", "Grid"],
  ["preview", "Coming runs"],
  ["source", "Source"],
] as const;

export function DagPage({ dagId }: { readonly dagId: string }): ReactNode {
  const id = encodeURIComponent(dagId);
  const [tab, setTab] = useQuery("tab");
  const [isTriggering, setTriggering] = useState(false);
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
  const pausing = usePausing({
    now,
    onChange: (_, isPaused) => dag.update((shown) => ({ ...shown, is_paused: isPaused })),
    onSettled: () => {
      dag.reload();
      preview.reload();
    },
  });
  const shown = tab === "source" ? source : tab === "preview" ? preview : grid;
  return (
    <>
      <Crumbs>
        <Link to="/dags">DAGs</Link>
        <span aria-current="page">{dagId}</span>
      </Crumbs>
      <DagHead dag={dag.data} dagId={dagId} now={now} onPause={pausing.toggle} onTrigger={() => setTriggering(true)} />
      <Problem error={pausing.error ?? dag.error ?? shown.error} />
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
      {isTriggering ? <TriggerDialog dagId={dagId} onClose={() => setTriggering(false)} /> : null}
      {pausing.dialog}
    </>
  );
}

export function DagHead(props: {
  readonly dag: Dag | undefined;
  readonly dagId: string;
  readonly now: number;
  readonly onPause: (dag: Dag) => void;
  readonly onTrigger: () => void;
}): ReactNode {
  const { dag, dagId, now, onPause, onTrigger } = props;
  return (
    <>
      <div className="title">
        {dag === undefined ? null : (
          <PauseSwitch dagId={dagId} isPaused={dag.is_paused} onToggle={() => onPause(dag)} />
        )}
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
            <dd>{scheduleOf(dag) === null ? "by hand" : <code>{scheduleOf(dag)}</code>}</dd>
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
