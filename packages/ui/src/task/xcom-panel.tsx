import { useState, type ReactNode } from "react";
import type { XComEntry, XComValue } from "@millrace/api/types";
import { useResource } from "../http/use-resource.ts";
import { Problem } from "../shell/notices.tsx";

export function XComPanel(props: {
  readonly base: string;
  readonly mapIndex: number;
  readonly entries: readonly XComEntry[];
}): ReactNode {
  if (props.entries.length === 0) return null;
  return (
    <section aria-labelledby="xcoms">
      <h2 id="xcoms">XComs</h2>
      <ul className="values">
        {props.entries.map((entry) => (
          <XCom key={`${entry.key} ${entry.timestamp}`} base={props.base} mapIndex={props.mapIndex} entry={entry} />
        ))}
      </ul>
    </section>
  );
}

/** A value may be a megabyte: it is asked for when it is opened. */
function XCom(props: { readonly base: string; readonly mapIndex: number; readonly entry: XComEntry }): ReactNode {
  const [open, setOpen] = useState(false);
  const key = encodeURIComponent(props.entry.key);
  const value = useResource<XComValue>(open ? `${props.base}/xcomEntries/${key}?map_index=${props.mapIndex}` : null);
  return (
    <li>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <code>{props.entry.key}</code>
        </summary>
        <Problem error={value.error} />
        {value.data === undefined ? null : <pre tabIndex={0}>{JSON.stringify(value.data.value, null, 2)}</pre>}
      </details>
    </li>
  );
}
