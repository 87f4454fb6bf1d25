// Runs against tasks. One handler for all cells: the arrow keys walk, Enter opens, and only one cell is a tab stop.
import { memo, useEffect, useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import type { Grid } from "@millrace/api/types";
import { elapsed, formatDuration, formatTime } from "../format/time.ts";
import { runPath, taskPath } from "../router/match-route.ts";
import { Link } from "../router/router.tsx";
import { StateMark } from "../states/state-mark.tsx";
import { describeStates, foremost, stateOf, wordOf } from "../states/states.ts";
import { StateLegend } from "../states/state-legend.tsx";
import { orderTasks } from "./order-tasks.ts";
import { step, type Cell } from "./step.ts";
import { ROW_HEIGHT, useRowWindow } from "./use-row-window.ts";

type Run = Grid["runs"][number];

export function DagGrid({ grid, now }: { readonly grid: Grid; readonly now: number }): ReactNode {
  const rows = useMemo(() => orderTasks(grid.nodes), [grid.nodes]);
  const places = useMemo(() => new Map(grid.nodes.map((node, at) => [node.task_id, at])), [grid.nodes]);
  const [active, setActive] = useState<Cell>({ row: -1, column: grid.runs.length - 1 });
  const table = useRef<HTMLTableElement>(null);
  const walking = useRef(false);
  const shown = useRowWindow(rows.length);
  // The cell may only come to be once its line has been scrolled to.
  useEffect(() => {
    if (!walking.current) return;
    const cell = table.current?.querySelector<HTMLElement>(`[data-cell="${active.row},${active.column}"]`);
    if (cell == null) return;
    walking.current = false;
    cell.focus();
  }, [active, shown.from]);
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
    walking.current = true;
    setActive(next);
    const box = table.current?.parentElement;
    if (next.row < shown.from || next.row >= shown.to) box?.scrollTo({ top: next.row * ROW_HEIGHT });
  };
  const longest = Math.max(1, ...grid.runs.map((run) => elapsed(run.start_date, run.end_date, now) ?? 0));
  return (
    <>
      <div className={shown.windowed ? "scroll tall" : "scroll"} onScroll={shown.onScroll}>
        <table
          ref={table}
          className="grid"
          role="grid"
          aria-label="Runs and their tasks"
          aria-rowcount={rows.length + 1}
          onKeyDown={onKeyDown}
        >
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
            <Spacer rows={shown.from} />
            {rows.slice(shown.from, shown.to).map(({ node, depth }, at) => (
              <GridRow
                key={node.task_id}
                dagId={grid.dag_id}
                taskId={node.task_id}
                place={places.get(node.task_id) ?? -1}
                name={node.task_display_name}
                operator={node.operator}
                isMapped={node.is_mapped}
                depth={depth}
                runs={grid.runs}
                row={shown.from + at}
                tabColumn={active.row === shown.from + at ? active.column : -1}
              />
            ))}
            <Spacer rows={rows.length - shown.to} />
          </tbody>
        </table>
      </div>
      <StateLegend />
    </>
  );
}

/** The room of lines that are not there. */
function Spacer({ rows }: { readonly rows: number }): ReactNode {
  return rows <= 0 ? null : <tr aria-hidden="true" className="spacer" style={{ height: rows * ROW_HEIGHT }} />;
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
  /** Of the task among the nodes, and so among the states of each run. */
  readonly place: number;
  readonly name: string;
  readonly operator: string;
  readonly isMapped: boolean;
  readonly depth: number;
  readonly runs: readonly Run[];
  readonly row: number;
  readonly tabColumn: number;
}): ReactNode {
  const { dagId, taskId, runs, row, tabColumn } = props;
  return (
    <tr role="row" aria-rowindex={row + 2}>
      <th scope="row" role="rowheader">
        <span className={`task depth-${Math.min(props.depth, 8)}`}>{props.name}</span>
        <span className="operator">{props.operator}</span>
      </th>
      {runs.map((run, column) => {
        const states = run.states[props.place] ?? null;
        if (states === null) return <td key={run.dag_run_id} role="gridcell" />;
        const label = `${taskId}: ${describeStates(states)}`;
        return (
          <td key={run.dag_run_id} role="gridcell">
            <Link
              // Of a mapped task the run's page lists the instances.
              to={props.isMapped ? runPath(dagId, run.dag_run_id) : taskPath(dagId, run.dag_run_id, taskId)}
              aria-label={`${label}, run of ${formatTime(run.run_after)}`}
              title={label}
              data-cell={`${row},${column}`}
              tabIndex={tabColumn === column ? 0 : -1}
            >
              <StateMark state={foremost(states)} />
            </Link>
          </td>
        );
      })}
    </tr>
  );
});
