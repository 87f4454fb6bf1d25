import { describe, expect, test } from "vitest";
import type { RunEvent, TaskEvent } from "@millrace/api/types";
import { grid, line, task } from "../fixtures/samples.ts";
import { pauseInLines, runInGrid, runInLines, taskInGrid, taskInList } from "./apply-events.ts";

const runEvent = (dag_run_id: string, run_after: string): RunEvent => ({
  dag_id: "orders",
  dag_run_id,
  run_type: "manual",
  state: "running",
  run_after,
  logical_date: null,
  start_date: null,
  end_date: null,
});
const taskEvent = (more: Partial<TaskEvent>): TaskEvent => ({
  dag_id: "orders",
  dag_run_id: "run 2",
  task_id: "extract",
  map_index: -1,
  state: "running",
  try_number: 2,
  start_date: null,
  end_date: null,
  duration: null,
  ...more,
});

describe("a change", () => {
  test("of a run moves its mark in the list, or adds it where its time is", () => {
    const lines = { dags: [line], total_entries: 1 };
    const marks = (event: RunEvent) =>
      runInLines(lines, event).dags[0]?.recent_runs.map((r) => [r.dag_run_id, r.state]);
    expect(marks(runEvent("run 1", "2026-11-01T05:00:00.000Z"))).toEqual([
      ["run 1", "running"],
      ["run 2", "failed"],
    ]);
    expect(marks(runEvent("new", "2026-11-03T05:00:00.000Z"))?.at(-1)).toEqual(["new", "running"]);
    expect(pauseInLines(lines, { dag_id: "orders", is_paused: true }).dags[0]?.is_paused).toBe(true);
  });

  test("of what the grid does not show asks for the grid anew", () => {
    expect(runInGrid(grid, runEvent("new", ""))).toBeNull();
    expect(runInGrid(grid, runEvent("run 2", ""))?.runs[0]?.state).toBe("running");
    expect(taskInGrid(grid, taskEvent({ map_index: 3 }))).toBeNull();
    expect(taskInGrid(grid, taskEvent({ dag_run_id: "new" }))).toBeNull();
    expect(taskInGrid(grid, taskEvent({ state: null }))?.runs[0]?.states[1]).toBe("none");
  });

  test("of a task changes its line only", () => {
    const list = { task_instances: [task, { ...task, task_id: "other" }], total_entries: 2 };
    const changed = taskInList(list, taskEvent({ task_id: "load" }));
    expect(changed.task_instances.map((ti) => ti.state)).toEqual(["running", "failed"]);
  });
});
