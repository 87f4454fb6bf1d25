import type { ReactNode } from "react";
import type { DagRun, Grid, TaskInstanceCollection } from "@millrace/api/types";
import { elapsed, formatDuration } from "../format/time.ts";
import { useNow } from "../format/use-now.ts";
import { When } from "../format/when.tsx";
import { useResource, useThrottled } from "../http/use-resource.ts";
import { taskInList } from "../live/apply-events.ts";
import { useLive } from "../live/use-live.ts";
import { dagPath } from "../router/match-route.ts";
import { Link, useQuery } from "../router/router.tsx";
import { Pager } from "../shell/pager.tsx";
import { Crumbs, Loading, Problem } from "../shell/notices.tsx";
import { StateBadge } from "../states/state-mark.tsx";
import { TaskList } from "./task-list.tsx";

const PAGE = 100;

export function RunPage({ dagId, runId }: { readonly dagId: string; readonly runId: string }): ReactNode {
  const base = `/api/v2/dags/${encodeURIComponent(dagId)}/dagRuns/${encodeURIComponent(runId)}`;
  const [offset] = useQuery("offset");
  const run = useResource<DagRun>(base);
  const tasks = useResource<TaskInstanceCollection>(
    `${base}/taskInstances?limit=${PAGE}&offset=${Number(offset) || 0}&order_by=id`,
  );
  const grid = useResource<Grid>(`/ui/dags/${encodeURIComponent(dagId)}/grid?limit=1`);
  const live = run.data !== undefined && run.data.end_date === null;
  const now = useNow(1_000, live);
  const reload = (): void => {
    run.reload();
    tasks.reload();
  };
  const reloadSoon = useThrottled(reload, 1_500);
  useLive(
    { dagId, runId },
    {
      ready: reload,
      run: (event) => {
        run.update((shown) => ({
          ...shown,
          state: event.state,
          start_date: event.start_date,
          end_date: event.end_date,
        }));
        reloadSoon();
      },
      task_instance: (event) => {
        tasks.update((shown) => taskInList(shown, event));
        // A mapped task grows new instances, and a retry makes a new try.
        if (event.map_index >= 0) reloadSoon();
      },
    },
  );
  return (
    <>
      <Crumbs>
        <Link to="/dags">DAGs</Link>
        <Link to={dagPath(dagId)}>{dagId}</Link>
        <span aria-current="page">{runId}</span>
      </Crumbs>
      <Problem error={run.error ?? tasks.error} />
      {run.data === undefined ? (
        run.error === undefined && <Loading what="the run" />
      ) : (
        <RunHead run={run.data} now={now} />
      )}
      {run.data === undefined || tasks.data === undefined ? null : (
        <>
          <TaskList run={run.data} tasks={tasks.data.task_instances} order={grid.data?.nodes ?? []} now={now} />
          <Pager total={tasks.data.total_entries} size={PAGE} />
        </>
      )}
    </>
  );
}

export function RunHead({ run, now }: { readonly run: DagRun; readonly now: number }): ReactNode {
  const facts: readonly (readonly [string, ReactNode])[] = [
    ["Runs from", <When key="after" at={run.run_after} now={now} />],
    ["Logical date", <When key="logical" at={run.logical_date} now={now} />],
    ["Duration", formatDuration(elapsed(run.start_date, run.end_date, now))],
    ["Started by", [run.triggered_by, run.triggering_user_name].filter(Boolean).join(", ") || "—"],
    ["Version", run.dag_versions[0]?.version_number ?? "—"],
  ];
  const conf = Object.keys(run.conf ?? {}).length === 0 ? null : JSON.stringify(run.conf, null, 2);
  return (
    <>
      <div className="title">
        <h1 className="mono">{run.dag_run_id}</h1>
        <StateBadge state={run.state} />
      </div>
      <dl className="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {conf === null ? null : (
        <details className="conf">
          <summary>Conf</summary>
          <pre tabIndex={0}>{conf}</pre>
        </details>
      )}
    </>
  );
}
