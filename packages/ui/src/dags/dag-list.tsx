import type { ReactNode } from "react";
import type { DagLine } from "@millrace/api/types";
import { scheduleOf } from "../format/schedule.ts";
import { When } from "../format/when.tsx";
import { PauseSwitch } from "../pausing/pause-switch.tsx";
import { dagPath } from "../router/match-route.ts";
import { Link } from "../router/router.tsx";
import { RecentRuns } from "./recent-runs.tsx";

export interface DagListProps {
  readonly dags: readonly DagLine[];
  readonly now: number;
  readonly filtered: boolean;
  readonly onPause: (dag: DagLine) => void;
}

export function DagList({ dags, now, filtered, onPause }: DagListProps): ReactNode {
  if (dags.length === 0) {
    return filtered ? (
      <p className="empty">No DAG matches.</p>
    ) : (
      <section className="empty">
        <h2>No DAGs yet</h2>
        <p>
          Put a file that exports a <code>Dag</code> into the DAG folder. It shows up here within seconds.
        </p>
      </section>
    );
  }
  return (
    <div className="scroll">
      <table className="list dags">
        <thead>
          <tr>
            <th scope="col">
              <span className="hidden">Active</span>
            </th>
            <th scope="col">DAG</th>
            <th scope="col">Schedule</th>
            <th scope="col">Last runs</th>
            <th scope="col">Next run</th>
          </tr>
        </thead>
        <tbody>
          {dags.map((dag) => (
            <DagRow key={dag.dag_id} dag={dag} now={now} onPause={onPause} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function DagRow({ dag, now, onPause }: Omit<DagListProps, "dags" | "filtered"> & { readonly dag: DagLine }): ReactNode {
  return (
    <tr className={dag.is_paused ? "paused" : undefined}>
      <td>
        <PauseSwitch dagId={dag.dag_id} isPaused={dag.is_paused} onToggle={() => onPause(dag)} />
      </td>
      <th scope="row">
        <Link to={dagPath(dag.dag_id)}>{dag.dag_display_name}</Link>
        {dag.has_import_errors ? <span className="tag warn">file has an error</span> : null}
        {dag.tags.map((tag) => (
          <span key={tag.name} className="tag">
            {tag.name}
          </span>
        ))}
        {dag.description === null ? null : <p className="about">{dag.description}</p>}
      </th>
      <td>
        {scheduleOf(dag) === null ? (
          <span className="quiet">by hand</span>
        ) : (
          <code title={dag.timetable_description ?? undefined}>{scheduleOf(dag)}</code>
        )}
      </td>
      <td>
        <RecentRuns dagId={dag.dag_id} runs={dag.recent_runs} />
      </td>
      <td className="when">
        {dag.is_paused ? <span className="quiet">paused</span> : <When at={dag.next_dagrun_run_after} now={now} />}
      </td>
    </tr>
  );
}
