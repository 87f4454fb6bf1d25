import type { ReactNode } from "react";
import type { DagSource } from "@millrace/api/types";
import { Loading } from "../shell/notices.tsx";

export function SourceView({ source }: { readonly source: DagSource | undefined }): ReactNode {
  if (source === undefined) return <Loading what="the source" />;
  const lines = (source.content ?? "").replace(/\n$/, "").split("\n");
  return (
    <figure className="source">
      <figcaption>
        Version {source.version_number ?? "—"}, as the runs from now on have it. A run keeps the version it began with.
      </figcaption>
      <pre tabIndex={0}>
        <code>
          {lines.map((line, at) => (
            // A line has no identity but its place.
            <span key={at} className="line">
              {line}
              {"\n"}
            </span>
          ))}
        </code>
      </pre>
    </figure>
  );
}
