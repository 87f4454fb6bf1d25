import { readdir, readFile, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { parseIgnoreRules, type IgnoreRules } from "./ignore-rules.ts";

export interface FolderListing {
  /** Files that may hold DAGs, relative to the folder, with `/`, sorted. */
  readonly files: readonly string[];
  /** Absolute paths of the folder and of those in it that were looked into. */
  readonly folders: readonly string[];
}

const IGNORE_FILE = ".millraceignore";
const DAG_FILE = /\.(ts|mts|js|mjs)$/;
const NO_DAG_FILE = /\.d\.m?ts$|\.test\.m?[tj]s$/;

/** @throws when the folder itself cannot be read. What goes wrong deeper is left out. */
export async function listDagFiles(folder: string): Promise<FolderListing> {
  const rules = parseIgnoreRules(await readFile(join(folder, IGNORE_FILE), "utf8").catch(() => ""));
  await readdir(folder);
  const files: string[] = [];
  const folders: string[] = [];
  await walk(folder, "", { rules, files, folders, seen: new Set() });
  return { files: files.sort(), folders };
}

interface Walk {
  readonly rules: IgnoreRules;
  readonly files: string[];
  readonly folders: string[];
  /** Real paths of the folders around, so that a link to one of them is no endless way. */
  readonly seen: ReadonlySet<string>;
}

async function walk(root: string, inside: string, state: Walk): Promise<void> {
  const path = join(root, inside);
  const [entries, real] = await Promise.all([
    readdir(path, { withFileTypes: true }).catch(() => []),
    realpath(path).catch(() => path),
  ]);
  if (state.seen.has(real)) return;
  state.folders.push(path);
  const seen = new Set([...state.seen, real]);
  for (const entry of entries) {
    if (entry.name.startsWith(".") || entry.name === "node_modules") continue;
    const name = inside === "" ? entry.name : `${inside}/${entry.name}`;
    const target = entry.isSymbolicLink() ? await stat(join(root, name)).catch(() => undefined) : entry;
    const isFolder = target?.isDirectory() === true;
    if (state.rules(name, isFolder)) continue;
    if (isFolder) await walk(root, name, { ...state, seen });
    else if (target?.isFile() === true && DAG_FILE.test(name) && !NO_DAG_FILE.test(name)) state.files.push(name);
  }
}
