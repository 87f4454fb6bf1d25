// A DAG file as the dag-processor would store it, imported into this process.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import type { Artifact } from "@millrace/sdk/runtime";
import { bundleDagFile, formatProblem } from "@millrace/scheduler/dag-processor";
import { AppError } from "@millrace/shared/errors";
import { mapStack } from "@millrace/shared/observability";

export interface LoadedDagFile {
  readonly file: string;
  readonly artifact: Artifact;
  /** A stack of the bundle as its author knows the code. */
  readonly mapStack: (stack: string) => string;
}

/** @throws AppError DAG_FILE_INVALID, with places in the author's file. */
export async function loadDagFile(file: string, cwd: string): Promise<LoadedDagFile> {
  const bundle = await bundleDagFile(file);
  if ("problems" in bundle) throw invalid(file, bundle.problems.map(formatProblem));
  const folder = relative(cwd, dirname(file));
  const map = (stack: string) => mapStack(stack, bundle.sourceMap, { folder: folder === "" ? "." : folder });
  const artifact = await importBundle(bundle).catch((error: unknown) => {
    throw invalid(file, [error instanceof Error ? map(error.stack ?? error.message) : String(error)], error);
  });
  return { file, artifact, mapStack: map };
}

async function importBundle(bundle: { readonly hash: string; readonly code: string }): Promise<Artifact> {
  const dir = await mkdtemp(join(tmpdir(), "millrace-test-dag-"));
  try {
    // mapStack knows a bundle by its hash in the name.
    const path = join(dir, `${bundle.hash}.mjs`);
    await writeFile(path, bundle.code);
    const module = (await import(pathToFileURL(path).href)) as { readonly artifact: Artifact };
    return module.artifact;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

const invalid = (file: string, problems: readonly string[], cause?: unknown): AppError =>
  new AppError(
    "DAG_FILE_INVALID",
    { file: basename(file), problems: problems.map((problem) => problem.replace(/^/gm, "  ")).join("\n") },
    { cause },
  );
