// Which DAG is meant: by its file, or by its id in the DAG folder.
import { readFile, readdir, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import type { DagSpec } from "@millrace/sdk/spec";
import type { Config } from "@millrace/shared/config";
import { AppError } from "@millrace/shared/errors";
import { UsageError } from "../io/report-error.ts";
import { loadDagFile, type LoadedDagFile } from "./load-dag-file.ts";

export interface FoundDag extends LoadedDagFile {
  readonly spec: DagSpec;
}

const DAG_FILE = /\.(?:ts|mts|js|mjs|tsx|jsx)$/;

const looksLikeFile = (given: string): boolean => DAG_FILE.test(given) || /[/\\]/.test(given);

/**
 * @param dagId which one of a file that has several
 * @throws AppError DAG_FILE_INVALID, DAG_NOT_FOUND; UsageError when there is no folder, or a file holds several DAGs and none
 * is named
 */
export async function findDag(
  config: Pick<Config, "core" | "dags_git">,
  fileOrId: string,
  dagId: string | undefined,
  cwd: string,
): Promise<FoundDag> {
  if (looksLikeFile(fileOrId)) return await findDagInFile(fileOrId, dagId, cwd);
  const { url, folder, subdirectory } = config.dags_git;
  if (url === "") return await findDagInFolder(config.core.dags_folder, fileOrId, cwd);
  // What the dag-processor of this machine has laid out last.
  const fetched = resolve(cwd, folder, "current", subdirectory);
  const isThere = await stat(fetched).then(
    () => true,
    () => false,
  );
  if (!isThere) {
    throw new UsageError(
      `the DAG files come from a git repository (dags_git.url), and ${fetched} does not exist: nothing was fetched on this machine. Give the path of a file in a clone of your own, or run \`millrace dag-processor\` here first`,
    );
  }
  return await findDagInFolder(fetched, fileOrId, cwd);
}

async function findDagInFile(file: string, dagId: string | undefined, cwd: string): Promise<FoundDag> {
  const loaded = await loadDagFile(resolve(cwd, file), cwd);
  const readings = loaded.artifact.dags();
  const ids = readings.map((reading) => reading.dagId);
  if (dagId === undefined && ids.length > 1) {
    throw new UsageError(`${file} has ${ids.length} DAGs; name one with --dag: ${ids.join(", ")}`);
  }
  const reading = dagId === undefined ? readings[0] : readings.find((candidate) => candidate.dagId === dagId);
  if (reading === undefined) {
    const what = ids.length === 0 ? "it constructs no DAG" : `it has no DAG ${dagId}; it has ${ids.join(", ")}`;
    throw new AppError("DAG_FILE_INVALID", { file: basename(file), problems: `  ${what}` });
  }
  if ("spec" in reading) return { ...loaded, spec: reading.spec };
  const problems = reading.problems.map(({ message, stack }) => {
    const place = stack === undefined ? undefined : /^\s+at .*$/m.exec(loaded.mapStack(stack))?.[0].trim();
    return `  - ${message}${place === undefined ? "" : ` (${place})`}`;
  });
  throw new AppError("DAG_FILE_INVALID", { file: basename(file), problems: problems.join("\n") });
}

/** Files that name the id are looked at first: most often there is one. */
async function findDagInFolder(folder: string, dagId: string, cwd: string): Promise<FoundDag> {
  const files = await dagFiles(resolve(cwd, folder));
  const texts = await Promise.all(files.map(async (file) => ({ file, text: await readFile(file, "utf8") })));
  const likely = texts.filter(({ text }) => text.includes(dagId));
  const failures: unknown[] = [];
  for (const { file } of [...likely, ...texts.filter((candidate) => !likely.includes(candidate))]) {
    try {
      const { artifact } = await loadDagFile(file, cwd);
      if (artifact.dags().some((reading) => reading.dagId === dagId)) return await findDagInFile(file, dagId, cwd);
    } catch (error) {
      // A broken file that names the id is most likely the one that is meant.
      if (likely.some((candidate) => candidate.file === file)) failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  throw new AppError("DAG_NOT_FOUND", { dagId });
}

async function dagFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
    throw new UsageError(`the DAG folder ${folder} cannot be read; give a file, or set MILLRACE__CORE__DAGS_FOLDER`, {
      cause,
    });
  });
  const nested = await Promise.all(
    entries.map(async (entry) => {
      if (entry.name.startsWith(".") || entry.name === "node_modules") return [];
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return await dagFiles(path);
      return DAG_FILE.test(entry.name) && !/\.(?:test|spec|d)\.\w+$/.test(entry.name) ? [path] : [];
    }),
  );
  return nested.flat();
}
