interface Conflict {
  readonly name: string;
  readonly uri: string;
  /** What has its name or its uri already. */
  readonly byName: string;
  readonly byUri: string;
}

/** Assets that cannot be used, as messages by dag_warning.warning_type. */
export function assetWarnings(conflicts: readonly Conflict[]): Readonly<Record<string, string>> {
  if (conflicts.length === 0) return {};
  const said = conflicts.map(({ name, uri, byName, byUri }) =>
    name === byName
      ? `asset ${name} has the uri ${uri} here and ${byUri} elsewhere`
      : `the uri ${uri} is that of asset ${name} here and of asset ${byName} elsewhere`,
  );
  return {
    "asset conflict": `${said.join("; ")}. Tasks with such an asset fail; give each name one uri, and each uri one name.`,
  };
}
