// What a change does to what is shown. Pure; where a change does not say enough, the page asks again.
import type { DagEvent, DagLines, Grid, RunEvent, TaskEvent, TaskInstanceCollection } from "@millrace/api/types";

const MARKS = 14;

export function runInLines(lines: DagLines, event: RunEvent): DagLines {
  return {
    ...lines,
    dags: lines.dags.map((dag) => {
      if (dag.dag_id !== event.dag_id) return dag;
      const others = dag.recent_runs.filter((run) => run.dag_run_id !== event.dag_run_id);
      const runs = [...others, event].sort((a, b) => a.run_after.localeCompare(b.run_after));
      return { ...dag, recent_runs: runs.slice(-MARKS) };
    }),
  };
}

export const pauseInLines = (lines: DagLines, event: DagEvent): DagLines => ({
  ...lines,
  dags: lines.dags.map((dag) => (dag.dag_id === event.dag_id ? { ...dag, is_paused: event.is_paused } : dag)),
});

/** Null: the run is not shown yet; ask again. */
export function runInGrid(grid: Grid, event: RunEvent): Grid | null {
  if (!grid.runs.some((run) => run.dag_run_id === event.dag_run_id)) return null;
  return {
    ...grid,
    runs: grid.runs.map((run) => (run.dag_run_id === event.dag_run_id ? { ...run, ...event } : run)),
  };
}

/** Null: one of many mapped task instances, or of a run or task that is not shown; ask again. */
export function taskInGrid(grid: Grid, event: TaskEvent): Grid | null {
  const at = grid.nodes.findIndex((node) => node.task_id === event.task_id);
  if (event.map_index >= 0 || at < 0 || !grid.runs.some((run) => run.dag_run_id === event.dag_run_id)) return null;
  const state = event.state ?? "none";
  return {
    ...grid,
    runs: grid.runs.map((run) =>
      run.dag_run_id === event.dag_run_id ? { ...run, states: run.states.with(at, state) } : run,
    ),
  };
}

export function taskInList(list: TaskInstanceCollection, event: TaskEvent): TaskInstanceCollection {
  return {
    ...list,
    task_instances: list.task_instances.map((ti) =>
      ti.task_id === event.task_id && ti.map_index === event.map_index
        ? {
            ...ti,
            state: event.state,
            try_number: event.try_number,
            start_date: event.start_date,
            end_date: event.end_date,
            duration: event.duration,
          }
        : ti,
    ),
  };
}
