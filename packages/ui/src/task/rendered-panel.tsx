import type { ReactNode } from "react";
import type { TaskInstance } from "@millrace/api/types";

/** The options of an operator as its templates made them for the last try, masked by the API. Earlier tries have none. */
export function RenderedPanel({ fields }: { readonly fields: TaskInstance["rendered_fields"] }): ReactNode {
  const entries = Object.entries(fields);
  if (entries.length === 0) return null;
  return (
    <section aria-labelledby="rendered">
      <h2 id="rendered">Rendered templates</h2>
      <ul className="values">
        {entries.map(([name, value]) => (
          <li key={name}>
            <details open>
              <summary>
                <code>{name}</code>
              </summary>
              <pre tabIndex={0}>{typeof value === "string" ? value : JSON.stringify(value, null, 2)}</pre>
            </details>
          </li>
        ))}
      </ul>
    </section>
  );
}
