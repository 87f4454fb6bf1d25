// What `.millraceignore` says, in the words of .gitignore: `#` comments, `!` takes back, a `/` at the start or inside ties
// a pattern to the DAG folder, one at the end means folders only; `*`, `?` and `**`.

export type IgnoreRules = (path: string, isFolder: boolean) => boolean;

interface Rule {
  readonly pattern: RegExp;
  readonly takesBack: boolean;
  readonly foldersOnly: boolean;
}

/** Paths are relative to the DAG folder, with `/`. The last rule that matches decides. */
export function parseIgnoreRules(text: string): IgnoreRules {
  const rules = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map(ruleOf);
  return (path, isFolder) =>
    rules.findLast((rule) => (isFolder || !rule.foldersOnly) && rule.pattern.test(path))?.takesBack === false;
}

function ruleOf(line: string): Rule {
  const takesBack = line.startsWith("!");
  const foldersOnly = line.endsWith("/");
  const body = line.slice(takesBack ? 1 : 0, foldersOnly ? -1 : undefined);
  const anchored = body.includes("/");
  const pattern = body
    .replace(/^\//, "")
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replace(/\*\*\/|\*\*|\*|\?/g, (glob) => ({ "**/": "(?:.*/)?", "**": ".*", "*": "[^/]*" })[glob] ?? "[^/]");
  return { pattern: new RegExp(`^${anchored ? "" : "(?:.*/)?"}${pattern}$`), takesBack, foldersOnly };
}
