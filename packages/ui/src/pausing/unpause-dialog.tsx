import { useEffect, useRef, type ReactNode } from "react";
import type { DagPreview } from "@millrace/api/types";
import { useResource } from "../http/use-resource.ts";
import { Loading } from "../shell/notices.tsx";
import { previewUrl, PreviewView } from "../preview/preview-view.tsx";

/** Asks before a DAG is unpaused, and shows which runs come of it. What cannot be foreseen keeps nobody from it. */
export function UnpauseDialog(props: {
  readonly dagId: string;
  readonly now: number;
  readonly onUnpause: () => void;
  readonly onClose: () => void;
}): ReactNode {
  const { dagId, now, onUnpause, onClose } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const preview = useResource<DagPreview>(previewUrl(dagId, true));
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} className="wide" onClose={onClose} aria-labelledby="unpause-title">
      <UnpauseQuestion dagId={dagId} preview={preview.data} error={preview.error} now={now} />
      <div className="buttons">
        <button type="button" onClick={() => dialog.current?.close()}>
          Keep it paused
        </button>
        <button
          type="button"
          className="primary"
          onClick={() => {
            onUnpause();
            dialog.current?.close();
          }}
        >
          Unpause
        </button>
      </div>
    </dialog>
  );
}

export function UnpauseQuestion(props: {
  readonly dagId: string;
  readonly preview: DagPreview | undefined;
  readonly error: Error | undefined;
  readonly now: number;
}): ReactNode {
  const { dagId, preview, error, now } = props;
  return (
    <>
      <h2 id="unpause-title">Unpause {dagId}?</h2>
      {error !== undefined ? (
        <p className="warning" role="note">
          Which runs come of it cannot be said: {error.message}
        </p>
      ) : preview === undefined ? (
        <Loading what="what comes of it" />
      ) : (
        <PreviewView preview={preview} now={now} />
      )}
    </>
  );
}
