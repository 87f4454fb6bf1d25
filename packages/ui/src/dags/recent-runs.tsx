import type { ReactNode } from "react";
import type { RecentRun } from "@millrace/api/types";
import { formatTime } from "../format/time.ts";
import { runPath } from "../router/match-route.ts";
import { Link } from "../router/router.tsx";
import { StateMark } from "../states/state-mark.tsx";
import { stateOf, wordOf } from "../states/states.ts";

/** Oldest first, as time goes. */
export function RecentRuns({
  dagId,
  runs,
}: {
  readonly dagId: string;
  readonly runs: readonly RecentRun[];
}): ReactNode {
  if (runs.length === 0) return <span className="quiet">none yet</span>;
  return (
    <ol className="marks">
      {runs.map((run) => {
        const label = `${wordOf(stateOf(run.state))}, ${formatTime(run.run_after)}`;
        return (
          <li key={run.dag_run_id}>
            <Link to={runPath(dagId, run.dag_run_id)} aria-label={`Run ${run.dag_run_id}: ${label}`} title={label}>
              <StateMark state={run.state} />
            </Link>
          </li>
        );
      })}
    </ol>
  );
}
