import { useEffect, useRef, useState, type FormEvent, type ReactNode } from "react";
import type { DagRun } from "@millrace/api/types";
import { request } from "../http/client.ts";
import { runPath } from "../router/match-route.ts";
import { useGo } from "../router/router.tsx";
import { Problem } from "../shell/notices.tsx";
import { parseConf } from "./parse-conf.ts";

export function TriggerDialog({ dagId, onClose }: { readonly dagId: string; readonly onClose: () => void }): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  // One key for one conf: pressing twice, or again after a lost answer, makes one run.
  const [key, setKey] = useState(newKey);
  const [text, setText] = useState("");
  const [error, setError] = useState<Error>();
  const [busy, setBusy] = useState(false);
  const go = useGo();
  useEffect(() => dialog.current?.showModal(), []);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const parsed = parseConf(text);
    if ("problem" in parsed) return setError(new Error(parsed.problem));
    setBusy(true);
    request<DagRun>("POST", `/api/v2/dags/${encodeURIComponent(dagId)}/dagRuns`, {
      body: { conf: parsed.conf },
      headers: { "idempotency-key": key },
    }).then(
      (run) => go(runPath(dagId, run.dag_run_id)),
      (problem: Error) => {
        setBusy(false);
        setError(problem);
      },
    );
  };
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="trigger-title">
      <form onSubmit={submit}>
        <h2 id="trigger-title">Trigger a run of {dagId}</h2>
        <label htmlFor="trigger-conf">Conf, as JSON (may stay empty)</label>
        <textarea
          id="trigger-conf"
          rows={8}
          spellCheck={false}
          placeholder='{ "day": "2026-01-01" }'
          value={text}
          onChange={(event) => {
            setText(event.currentTarget.value);
            setKey(newKey());
            setError(undefined);
          }}
          aria-invalid={error !== undefined}
        />
        <Problem error={error} />
        <div className="buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="submit" className="primary" disabled={busy}>
            Trigger
          </button>
        </div>
      </form>
    </dialog>
  );
}

// randomUUID is missing where a page comes by plain HTTP from another machine.
const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
