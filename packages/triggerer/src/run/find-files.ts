// Paths that a pattern names: `*` and `?` within a name, `[…]` for one of some characters, `**` for any number of folders.
// Names that begin with a dot match only a pattern that begins with one. Folders are read one by one, and a link to a
// folder is followed only where the pattern names it.
import { access, readdir } from "node:fs/promises";
import { isAbsolute, join, sep } from "node:path";

const MAGIC = /[*?[]/;

/** Sorted. Folders that cannot be read hold nothing. */
export async function findFiles(pattern: string): Promise<string[]> {
  if (!MAGIC.test(pattern)) return (await exists(pattern)) ? [pattern] : [];
  const parts = pattern.split(/[/\\]+/).filter((part) => part !== "" && part !== ".");
  const found = await walk(isAbsolute(pattern) ? sep : "", parts);
  return [...new Set(found)].sort();
}

async function walk(folder: string, parts: readonly string[]): Promise<string[]> {
  const [part, ...rest] = parts;
  if (part === undefined) return [];
  if (!MAGIC.test(part)) {
    const path = join(folder, part);
    if (rest.length > 0) return await walk(path, rest);
    return (await exists(path)) ? [path] : [];
  }
  const found: string[] = part === "**" ? await walk(folder, rest) : [];
  const matches = part === "**" ? (name: string) => !name.startsWith(".") : matcher(part);
  const entries = await readdir(folder === "" ? "." : folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!matches(entry.name)) continue;
    const path = join(folder, entry.name);
    if (part === "**") {
      if (entry.isDirectory()) found.push(...(await walk(path, parts)));
      else if (rest.length === 0) found.push(path);
    } else if (rest.length === 0) found.push(path);
    else if (entry.isDirectory() || entry.isSymbolicLink()) found.push(...(await walk(path, rest)));
  }
  return found;
}

function matcher(part: string): (name: string) => boolean {
  const text = part.replace(/\[!/g, "[^").replace(/[.+^${}()|\\]|\*+|\?/g, (found, at: number) => {
    if (found.startsWith("*")) return "[^/]*";
    if (found === "?") return "[^/]";
    return found === "^" && part[at - 1] === "[" ? found : `\\${found}`;
  });
  let pattern: RegExp;
  try {
    pattern = new RegExp(`^${text}$`, "u");
  } catch {
    return (name) => name === part;
  }
  return (name) => pattern.test(name) && (part.startsWith(".") || !name.startsWith("."));
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
