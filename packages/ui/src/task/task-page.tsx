import type { ReactNode } from "react";
import type { TaskInstance, TaskInstanceCollection, XComCollection } from "@millrace/api/types";
import { elapsed, formatDuration } from "../format/time.ts";
import { useNow } from "../format/use-now.ts";
import { When } from "../format/when.tsx";
import { useResource } from "../http/use-resource.ts";
import { useLive } from "../live/use-live.ts";
import { dagPath, runPath, type TaskRoute } from "../router/match-route.ts";
import { Link, useQuery } from "../router/router.tsx";
import { Crumbs, Loading, Problem } from "../shell/notices.tsx";
import { StateBadge, StateMark } from "../states/state-mark.tsx";
import { LogPanel } from "./log-panel.tsx";
import { RenderedPanel } from "./rendered-panel.tsx";
import { XComPanel } from "./xcom-panel.tsx";

export function TaskPage({ task }: { readonly task: TaskRoute }): ReactNode {
  const { dagId, runId, taskId, mapIndex } = task;
  const base = `/api/v2/dags/${encodeURIComponent(dagId)}/dagRuns/${encodeURIComponent(runId)}/taskInstances/${encodeURIComponent(taskId)}`;
  const mapped = `map_index=${mapIndex}`;
  const [chosen, choose] = useQuery("try");
  const tries = useResource<TaskInstanceCollection>(`${base}/tries?${mapped}`);
  const xcoms = useResource<XComCollection>(`${base}/xcomEntries?${mapped}&limit=100`);
  const current = tries.data?.task_instances.at(-1);
  const now = useNow(1_000, current?.state === "running");
  const reload = (): void => {
    tries.reload();
    xcoms.reload();
  };
  useLive(
    { dagId, runId },
    {
      ready: reload,
      task_instance: (event) => {
        if (event.task_id === taskId && event.map_index === mapIndex) reload();
      },
    },
  );
  const shown = tries.data?.task_instances.find((ti) => String(ti.try_number) === chosen) ?? current;
  return (
    <>
      <Crumbs>
        <Link to="/dags">DAGs</Link>
        <Link to={dagPath(dagId)}>{dagId}</Link>
        <Link to={runPath(dagId, runId)}>{runId}</Link>
        <span aria-current="page">{mapIndex < 0 ? taskId : `${taskId} [${mapIndex}]`}</span>
      </Crumbs>
      <Problem error={tries.error} />
      {shown === undefined || tries.data === undefined ? (
        tries.error === undefined && <Loading what="the task" />
      ) : (
        <>
          <TaskHead ti={shown} tries={tries.data.task_instances} now={now} onChoose={choose} />
          <RenderedPanel fields={shown.rendered_fields} />
          <XComPanel base={base} mapIndex={mapIndex} entries={xcoms.data?.xcom_entries ?? []} />
          <LogPanel
            key={shown.try_number}
            url={`${base}/logs/${shown.try_number}?${mapped}`}
            started={shown.try_number > 0}
          />
        </>
      )}
    </>
  );
}

export function TaskHead(props: {
  readonly ti: TaskInstance;
  readonly tries: readonly TaskInstance[];
  readonly now: number;
  readonly onChoose: (tryNumber: string) => void;
}): ReactNode {
  const { ti, tries, now, onChoose } = props;
  const last = tries.at(-1);
  const seconds = ti.state === "running" || ti.end_date !== null ? elapsed(ti.start_date, ti.end_date, now) : null;
  const facts: readonly (readonly [string, ReactNode])[] = [
    ["Started", <When key="start" at={ti.start_date} now={now} />],
    ["Duration", formatDuration(seconds)],
    ["Operator", ti.operator ?? "—"],
    ["Pool", ti.pool_slots === 1 ? ti.pool : `${ti.pool} (${ti.pool_slots} slots)`],
    ["Queue", ti.queue ?? "—"],
    ["Worker", ti.hostname ?? "—"],
  ];
  return (
    <>
      <div className="title">
        <h1>{ti.task_display_name}</h1>
        <StateBadge state={ti.state} />
        <span className="grow" />
        {tries.length < 2 ? null : (
          <div className="choices" role="group" aria-label="Tries">
            {tries.map((each) => (
              <button
                key={each.try_number}
                type="button"
                aria-pressed={each.try_number === ti.try_number}
                onClick={() => onChoose(each === last ? "" : String(each.try_number))}
              >
                <StateMark state={each.state} /> Try {each.try_number}
              </button>
            ))}
          </div>
        )}
      </div>
      <dl className="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}
