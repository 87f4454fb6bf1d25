import type { ReactNode } from "react";
import type { ImportError } from "@millrace/api/types";
import { errorPlace } from "../format/error-place.ts";

export function ImportErrors({ errors }: { readonly errors: readonly ImportError[] }): ReactNode {
  if (errors.length === 0) return null;
  return (
    <section className="errors" aria-labelledby="import-errors">
      <h2 id="import-errors">
        {errors.length === 1 ? "One file could not be read" : `${errors.length} files could not be read`}
      </h2>
      <ul>
        {errors.map((error) => {
          const { place, message } = errorPlace(error.filename, error.stack_trace);
          return (
            <li key={error.import_error_id}>
              <details>
                <summary>
                  <code>{place}</code> <span>{message}</span>
                </summary>
                <pre tabIndex={0}>{error.stack_trace}</pre>
              </details>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
