// Runs against tasks. One handler for all cells: the arrow keys walk, Enter opens, and only one cell is a tab stop.
import { memo, useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import type { Grid } from "@millrace/api/types";
import { elapsed, formatDuration, formatTime } from "../format/time.ts";
import { runPath, taskPath } from "../router/match-route.ts";
import { Link } from "../router/router.tsx";
import { StateMark } from "../states/state-mark.tsx";
import { describeStates, foremost, stateOf, wordOf } from "../states/states.ts";
import { StateLegend } from "../states/state-legend.tsx";
import { orderTasks } from "./order-tasks.ts";
import { step, type Cell } from "./step.ts";

type Run = Grid["runs"][number];

export function DagGrid({ grid, now }: { readonly grid: Grid; readonly now: number }): ReactNode {
  const rows = useMemo(() => orderTasks(grid.nodes), [grid.nodes]);
  const [active, setActive] = useState<Cell>({ row: -1, column: grid.runs.length - 1 });
  const table = useRef<HTMLTableElement>(null);
  if (grid.runs.length === 0) {
    return (
      <section className="empty">
        <h2>No runs yet</h2>
        <p>Unpause the DAG to follow its schedule, or trigger a run by hand.</p>
      </section>
    );
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = step(active, event.key, { rows: rows.length, columns: grid.runs.length });
    if (next === undefined) return;
    event.preventDefault();
    setActive(next);
    table.current?.querySelector<HTMLElement>(`[data-cell="${next.row},${next.column}"]`)?.focus();
  };
  const longest = Math.max(1, ...grid.runs.map((run) => elapsed(run.start_date, run.end_date, now) ?? 0));
  return (
    <>
      <div className="scroll">
        <table ref={table} className="grid" role="grid" aria-label="Runs and their tasks" onKeyDown={onKeyDown}>
          <thead>
            <tr role="row">
              <th scope="col" role="columnheader" className="corner">
                Task
              </th>
              {grid.runs.map((run, column) => (
                <th key={run.dag_run_id} scope="col" role="columnheader">
                  <RunBar
                    dagId={grid.dag_id}
                    run={run}
                    seconds={elapsed(run.start_date, run.end_date, now)}
                    longest={longest}
                    cell={`-1,${column}`}
                    tab={active.row === -1 && active.column === column}
                  />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(({ node, depth }, row) => (
              <GridRow
                key={node.task_id}
                dagId={grid.dag_id}
                taskId={node.task_id}
                name={node.task_display_name}
                operator={node.operator}
                depth={depth}
                runs={grid.runs}
                row={row}
                tabColumn={active.row === row ? active.column : -1}
              />
            ))}
          </tbody>
        </table>
      </div>
      <StateLegend />
    </>
  );
}

function RunBar(props: {
  readonly dagId: string;
  readonly run: Run;
  readonly seconds: number | null;
  readonly longest: number;
  readonly cell: string;
  readonly tab: boolean;
}): ReactNode {
  const { dagId, run, seconds, longest, cell, tab } = props;
  const height = Math.max(3, Math.round((44 * (seconds ?? 0)) / longest));
  const label = `${run.run_type} run, ${wordOf(stateOf(run.state))}, ${formatTime(run.run_after)}, ${formatDuration(seconds)}`;
  return (
    <Link
      to={runPath(dagId, run.dag_run_id)}
      className={`bar state-${run.state}`}
      aria-label={label}
      title={`${run.dag_run_id}\n${label}`}
      data-cell={cell}
      tabIndex={tab ? 0 : -1}
    >
      <svg viewBox="0 0 10 44" preserveAspectRatio="none" aria-hidden="true">
        <rect x="0" y={44 - height} width="10" height={height} rx="1.5" />
      </svg>
      <StateMark state={run.state} />
    </Link>
  );
}

const GridRow = memo(function GridRow(props: {
  readonly dagId: string;
  readonly taskId: string;
  readonly name: string;
  readonly operator: string;
  readonly depth: number;
  readonly runs: readonly Run[];
  readonly row: number;
  readonly tabColumn: number;
}): ReactNode {
  const { dagId, taskId, runs, row, tabColumn } = props;
  return (
    <tr role="row">
      <th scope="row" role="rowheader">
        <span className={`task depth-${Math.min(props.depth, 8)}`}>{props.name}</span>
        <span className="operator">{props.operator}</span>
      </th>
      {runs.map((run, column) => {
        const task = run.tasks[taskId];
        if (task === undefined) return <td key={run.dag_run_id} role="gridcell" />;
        const label = `${taskId}: ${describeStates(task.states)}`;
        return (
          <td key={run.dag_run_id} role="gridcell">
            <Link
              to={taskPath(dagId, run.dag_run_id, taskId)}
              aria-label={`${label}, run of ${formatTime(run.run_after)}`}
              title={label}
              data-cell={`${row},${column}`}
              tabIndex={tabColumn === column ? 0 : -1}
            >
              <StateMark state={foremost(task.states)} />
            </Link>
          </td>
        );
      })}
    </tr>
  );
});
