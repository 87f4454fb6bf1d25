import type { ReactNode } from "react";
import type { DagSource, DagVersion } from "@millrace/api/types";
import { Loading } from "../shell/notices.tsx";

/** The file as it was read for one version, with the others to choose from. */
export function SourceView(props: {
  readonly source: DagSource | undefined;
  /** Newest first. */
  readonly versions: readonly DagVersion[];
  readonly onChoose: (versionNumber: string) => void;
}): ReactNode {
  const { source, versions, onChoose } = props;
  if (source === undefined) return <Loading what="the source" />;
  const lines = (source.content ?? "").replace(/\n$/, "").split("\n");
  const newest = versions[0]?.version_number ?? source.version_number;
  return (
    <figure className="source">
      <figcaption>
        {versions.length < 2 ? (
          `Version ${source.version_number ?? "—"}`
        ) : (
          <label>
            Version{" "}
            <select value={source.version_number ?? ""} onChange={(event) => onChoose(event.target.value)}>
              {versions.map((version) => (
                <option key={version.id} value={version.version_number}>
                  {version.version_number} · {version.created_at.slice(0, 16).replace("T", " ")}
                  {version.bundle_version === null ? "" : ` · ${version.bundle_version.slice(0, 12)}`}
                </option>
              ))}
            </select>
          </label>
        )}
        {source.version_number === newest
          ? ", as the runs from now on have it. A run keeps the version it began with."
          : ", as its runs have it; those from now on have a newer one."}
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
