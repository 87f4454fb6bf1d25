import type { ReactNode } from "react";

export function Problem({ error }: { readonly error: Error | undefined }): ReactNode {
  if (error === undefined) return null;
  return (
    <p className="problem" role="alert">
      {error.message}
    </p>
  );
}

export function Loading({ what }: { readonly what: string }): ReactNode {
  return (
    <p className="loading" role="status">
      Loading {what} …
    </p>
  );
}

export function Crumbs({ children }: { readonly children: readonly ReactNode[] }): ReactNode {
  return (
    <nav className="crumbs" aria-label="Breadcrumb">
      <ol>
        {children.map((child, at) => (
          // The order of the path is what they are.
          <li key={at}>{child}</li>
        ))}
      </ol>
    </nav>
  );
}
