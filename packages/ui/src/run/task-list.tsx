import { useMemo, type ReactNode } from "react";
import type { DagRun, Grid, TaskInstance } from "@millrace/api/types";
import { orderTasks } from "../dag/order-tasks.ts";
import { elapsed, formatClock, formatDuration } from "../format/time.ts";
import { taskPath } from "../router/match-route.ts";
import { Link } from "../router/router.tsx";
import { StateBadge } from "../states/state-mark.tsx";
import { hasEnded, stateOf } from "../states/states.ts";
import { spanOf } from "./span.ts";

export interface TaskListProps {
  readonly run: DagRun;
  readonly tasks: readonly TaskInstance[];
  /** The DAG's tasks, for the order of the lines. */
  readonly order: Grid["nodes"];
  readonly now: number;
}

export function TaskList({ run, tasks, order, now }: TaskListProps): ReactNode {
  const ranks = useMemo(() => new Map(orderTasks(order).map(({ node }, at) => [node.task_id, at])), [order]);
  const rank = (ti: TaskInstance): number => ranks.get(ti.task_id) ?? ranks.size;
  const sorted = tasks.toSorted(
    (a, b) => rank(a) - rank(b) || a.task_id.localeCompare(b.task_id) || a.map_index - b.map_index,
  );
  if (tasks.length === 0) return <p className="empty">This run has no tasks.</p>;
  return (
    <div className="scroll">
      <table className="list tasks">
        <thead>
          <tr>
            <th scope="col">Task</th>
            <th scope="col">State</th>
            <th scope="col" className="number">
              Try
            </th>
            <th scope="col">Started</th>
            <th scope="col" className="number">
              Duration
            </th>
            <th scope="col">Within the run</th>
          </tr>
        </thead>
        <tbody>
          {sorted.map((ti) => (
            <TaskRow key={`${ti.task_id} ${ti.map_index}`} run={run} ti={ti} now={now} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function TaskRow({
  run,
  ti,
  now,
}: {
  readonly run: DagRun;
  readonly ti: TaskInstance;
  readonly now: number;
}): ReactNode {
  const goesOn = !hasEnded(stateOf(ti.state)) && ti.state === "running";
  const end = goesOn ? null : ti.end_date;
  const seconds = ti.start_date === null || (end === null && !goesOn) ? null : elapsed(ti.start_date, end, now);
  const span = spanOf(run, ti, now);
  return (
    <tr>
      <th scope="row">
        <Link to={taskPath(ti.dag_id, ti.dag_run_id, ti.task_id, ti.map_index)}>
          {ti.task_display_name}
          {ti.map_index < 0 ? null : <span className="index"> [{ti.rendered_map_index ?? ti.map_index}]</span>}
        </Link>
        <span className="operator">{ti.operator}</span>
      </th>
      <td>
        <StateBadge state={ti.state} />
      </td>
      <td className="number">
        {ti.try_number === 0 ? "—" : `${ti.try_number} of ${Math.max(ti.max_tries + 1, ti.try_number)}`}
      </td>
      <td>{ti.start_date === null ? "—" : formatClock(ti.start_date)}</td>
      <td className="number">{formatDuration(seconds)}</td>
      <td className="span">
        {span === null ? null : (
          <svg
            viewBox="0 0 100 10"
            preserveAspectRatio="none"
            aria-hidden="true"
            className={`state-${stateOf(ti.state)}`}
          >
            <rect x={span.from} y="1" width={span.width} height="8" rx="1" />
          </svg>
        )}
      </td>
    </tr>
  );
}
