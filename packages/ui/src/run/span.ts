interface Times {
  readonly start_date: string | null;
  readonly end_date: string | null;
}

/** Where a task lies within its run, in hundredths of the run's length. Null before it started. */
export function spanOf(
  run: Times,
  task: Times,
  nowMs: number,
): { readonly from: number; readonly width: number } | null {
  if (run.start_date === null || task.start_date === null) return null;
  const start = Date.parse(run.start_date);
  const end = run.end_date === null ? nowMs : Date.parse(run.end_date);
  const length = Math.max(1, end - start);
  const at = (ms: number): number => Math.min(100, Math.max(0, (100 * (ms - start)) / length));
  const from = Math.min(at(Date.parse(task.start_date)), 99);
  const to = at(task.end_date === null ? nowMs : Date.parse(task.end_date));
  return { from, width: Math.max(1, to - from) };
}
