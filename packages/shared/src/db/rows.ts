// The one place where columns become properties: snake_case in Postgres, camelCase in TypeScript. Only the names of
// columns change; what a jsonb column holds is the user's and stays as it is.

const names = new Map<string, string>();

/** `dag_run_id` → `dagRunId`. */
export function camelCase(column: string): string {
  let name = names.get(column);
  if (name === undefined) {
    name = column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    names.set(column, name);
  }
  return name;
}

/** The type is the caller's promise about what its query selects. */
export function fromRows<R>(rows: readonly Readonly<Record<string, unknown>>[]): R[] {
  return rows.map(
    (row) => Object.fromEntries(Object.entries(row).map(([column, value]) => [camelCase(column), value])) as R,
  );
}
