/** What `GET /api/v2/events` pushes, by the name of the event. */
export interface RunEvent {
  readonly dag_id: string;
  readonly dag_run_id: string;
  readonly run_type: string;
  readonly state: "queued" | "running" | "success" | "failed";
  readonly run_after: string;
  readonly logical_date: string | null;
  readonly start_date: string | null;
  readonly end_date: string | null;
}

export interface TaskEvent {
  readonly dag_id: string;
  readonly dag_run_id: string;
  readonly task_id: string;
  readonly map_index: number;
  readonly state: string | null;
  readonly try_number: number;
  readonly start_date: string | null;
  readonly end_date: string | null;
  readonly duration: number | null;
}

export interface DagEvent {
  readonly dag_id: string;
  readonly is_paused: boolean;
}

export interface LiveEvents {
  readonly run: RunEvent;
  readonly task_instance: TaskEvent;
  readonly dag: DagEvent;
}
