// The first file that a pattern names. A pattern is taken step by step, so that only folders that can matter are read.
import { readdir, stat } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import type { FileExistsEvent } from "../triggers/file-exists.ts";

const MAGIC = /[*?[]/;

/**
 * Undefined when there is none. `**` stands for any number of folders; a leading dot has to be named. Of several it is the
 * first in alphabetical order, and under `**` the nearest folder's.
 */
export async function findFile(pattern: string): Promise<FileExistsEvent | undefined> {
  const steps = pattern.split("/").filter((step) => step !== "");
  return find(isAbsolute(pattern) ? "/" : "", steps);
}

async function find(folder: string, steps: readonly string[]): Promise<FileExistsEvent | undefined> {
  const [step, ...rest] = steps;
  if (step === undefined) return describe(folder);
  if (!MAGIC.test(step)) return find(join(folder, step), rest);
  if (step === "**") {
    const here = rest.length === 0 ? undefined : await find(folder, rest);
    if (here !== undefined) return here;
  }
  const matches = step === "**" ? /^[^.]/ : expressionOf(step);
  for (const entry of await entriesOf(folder)) {
    if (!matches.test(entry.name)) continue;
    const path = join(folder, entry.name);
    // A link is not gone into by `**`, because it may lead back to where it is.
    const next = step === "**" ? (entry.isDirectory() ? steps : rest) : rest;
    if (step === "**" && !entry.isDirectory() && rest.length > 0) continue;
    const found = await find(path, next);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function describe(path: string): Promise<FileExistsEvent | undefined> {
  const found = await stat(path === "" ? "." : path).catch(isMissing);
  return found && { path, size: found.size, modifiedAt: found.mtime.toISOString() };
}

async function entriesOf(folder: string) {
  const entries = (await readdir(folder === "" ? "." : folder, { withFileTypes: true }).catch(isMissing)) ?? [];
  return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** What is not there is waited for. What may not be read is an error. */
function isMissing(error: unknown): undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code !== "ENOENT" && code !== "ENOTDIR") throw error;
  return undefined;
}

function expressionOf(step: string): RegExp {
  const source = step.replaceAll(/\[!?[^\]]+\]|[\\^$.*+?()[\]{}|]/g, (part) => {
    if (part === "*") return ".*";
    if (part === "?") return ".";
    if (part.length > 1) return part.replace(/^\[!/, "[^").replaceAll("\\", "\\\\");
    return `\\${part}`;
  });
  return new RegExp(`^${/^[*?[]/.test(step) ? "(?!\\.)" : ""}${source}$`, "su");
}
