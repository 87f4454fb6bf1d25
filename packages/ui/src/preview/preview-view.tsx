// Which runs a DAG's schedule will create, as the API says by the scheduler's own steps: each with the local time of the
// schedule and in UTC, and what clocks do to it.
import type { ReactNode } from "react";
import type { DagPreview, PreviewedRun } from "@millrace/api/types";
import { formatRelative } from "../format/time.ts";
import { Loading } from "../shell/notices.tsx";

/** More runs at once than this are worth a warning. */
export const MANY_RUNS = 100;

/** The runs of the coming week, and those that are due. */
export const previewUrl = (dagId: string, unpause: boolean): string =>
  `/api/v2/dags/${encodeURIComponent(dagId)}/preview?limit=100${unpause ? "&unpause=true" : ""}`;

export interface PreviewViewProps {
  readonly preview: DagPreview | undefined;
  readonly now: number;
}

export function PreviewView({ preview, now }: PreviewViewProps): ReactNode {
  if (preview === undefined) return <Loading what="the coming runs" />;
  return (
    <section aria-label="Runs that the schedule will create">
      <PreviewSummary preview={preview} />
      {preview.runs.length === 0 ? null : <PreviewTable preview={preview} now={now} />}
    </section>
  );
}

/** What there is to know before one looks at the runs. */
export function PreviewSummary({ preview }: { readonly preview: DagPreview }): ReactNode {
  const { summary, remarks, due, max_active_runs, catchup } = preview;
  return (
    <>
      <p className="summary">{summary}</p>
      {due > MANY_RUNS ? (
        <p className="warning" role="note">
          {due.toLocaleString("en-US")} runs are due at once
          {catchup === true ? ", because the DAG catches up on all it missed" : ""}. At most {max_active_runs} of them
          are active at a time.
        </p>
      ) : null}
      {remarks.length === 0 ? null : (
        <ul className="remarks">
          {remarks.map((remark) => (
            <li key={remark}>{remark}</li>
          ))}
        </ul>
      )}
    </>
  );
}

function PreviewTable({ preview, now }: { readonly preview: DagPreview; readonly now: number }): ReactNode {
  // The same time twice says nothing.
  const isUtc = preview.timezone === "UTC";
  return (
    <div className="scroll">
      <table className="list preview">
        <thead>
          <tr>
            <th scope="col">Starts, {preview.timezone}</th>
            {isUtc ? null : <th scope="col">Starts, UTC</th>}
            <th scope="col">Data interval, {preview.timezone}</th>
            <th scope="col">Remarks</th>
          </tr>
        </thead>
        <tbody>
          {preview.runs.map((run) => (
            <PreviewRow key={run.dag_run_id} run={run} isUtc={isUtc} now={now} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function PreviewRow(props: { readonly run: PreviewedRun; readonly isUtc: boolean; readonly now: number }): ReactNode {
  const { run, isUtc, now } = props;
  const { local, run_after, is_due, is_created, remarks } = run;
  const when = is_due ? "due" : formatRelative(run_after, now);
  const isInstant = local.data_interval_start === local.data_interval_end;
  return (
    <tr className={is_created ? undefined : "quiet"}>
      <th scope="row">
        <time dateTime={local.run_after}>{minute(local.run_after)}</time>{" "}
        <span className="quiet">{isUtc ? when : offset(local.run_after)}</span>
      </th>
      {isUtc ? null : (
        <td>
          <time dateTime={run_after}>{minute(run_after)}</time> <span className="quiet">{when}</span>
        </td>
      )}
      <td>
        {isInstant
          ? minute(local.data_interval_start)
          : `${minute(local.data_interval_start)} → ${minute(local.data_interval_end)}`}
      </td>
      <td>
        {remarks.map((remark) => (
          <span key={remark} className="tag warn">
            {remark}
          </span>
        ))}
      </td>
    </tr>
  );
}

/** `2026-03-29 03:30`, with the seconds where there are any. */
const minute = (iso: string): string => iso.slice(0, 19).replace("T", " ").replace(/:00$/, "");
const offset = (iso: string): string => iso.slice(19);
