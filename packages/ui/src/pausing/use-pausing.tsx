import { useState, type ReactNode } from "react";
import { scheduleOf } from "../format/schedule.ts";
import { request } from "../http/client.ts";
import { UnpauseDialog } from "./unpause-dialog.tsx";

export interface PausedDag {
  readonly dag_id: string;
  readonly is_paused: boolean;
  readonly timetable_summary: string | null;
}

export interface Pausing {
  /** Turns the switch of a DAG; asks first when runs may come of it. */
  readonly toggle: (dag: PausedDag) => void;
  /** Why the last change was not made. */
  readonly error: Error | undefined;
  /** The question, while it is asked. */
  readonly dialog: ReactNode;
}

/** Pausing and unpausing, the same wherever there is a switch. */
export function usePausing(options: {
  readonly now: number;
  /** Shows the change before the server has made it. */
  readonly onChange: (dagId: string, isPaused: boolean) => void;
  /** The server has made the change, or has not. */
  readonly onSettled: () => void;
}): Pausing {
  const { now, onChange, onSettled } = options;
  const [asked, setAsked] = useState<string>();
  const [error, setError] = useState<Error>();
  const setPaused = (dagId: string, isPaused: boolean): void => {
    onChange(dagId, isPaused);
    setError(undefined);
    request("PATCH", `/api/v2/dags/${encodeURIComponent(dagId)}`, { body: { is_paused: isPaused } })
      .catch((problem: Error) => {
        onChange(dagId, !isPaused);
        setError(new Error(`${dagId} was not ${isPaused ? "paused" : "unpaused"}: ${problem.message}`));
      })
      .finally(onSettled);
  };
  return {
    // Only what is scheduled can surprise.
    toggle: (dag) =>
      dag.is_paused && scheduleOf(dag) !== null ? setAsked(dag.dag_id) : setPaused(dag.dag_id, !dag.is_paused),
    error,
    dialog:
      asked === undefined ? null : (
        <UnpauseDialog
          dagId={asked}
          now={now}
          onUnpause={() => setPaused(asked, false)}
          onClose={() => setAsked(undefined)}
        />
      ),
  };
}
