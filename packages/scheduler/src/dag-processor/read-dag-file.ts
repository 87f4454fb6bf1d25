// One DAG file from the disk to its rows.
import { join, posix } from "node:path";
import type { Config } from "@millrace/shared/config";
import type { Database } from "@millrace/shared/db";
import type { Logger } from "@millrace/shared/observability";
import { bundleDagFile } from "./bundle/bundle-dag-file.ts";
import { formatProblem } from "./bundle/dag-bundle.ts";
import type { DagTree } from "./folder/dag-source.ts";
import { parseInChild } from "./parse/parse-in-child.ts";
import { fileProblemsText } from "./record/import-error-text.ts";
import { recordFailure } from "./record/record-failure.ts";
import { recordParsed, type Recorded } from "./record/record-parsed.ts";

export interface ReadFileDeps {
  readonly db: Database;
  readonly config: Pick<Config, "core" | "dag_processor">;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Takes the secrets out of what a file says of its error. */
  readonly redact: (text: string) => Promise<string>;
}

export interface FileRead {
  readonly inputs: readonly string[];
  /** Undefined when it could not be bundled. */
  readonly hash: string | undefined;
  readonly result:
    | Recorded
    /** Its code is that of `knownHash`. */
    | { readonly kind: "same" }
    | { readonly kind: "unbundled" | "failed"; readonly changed: boolean; readonly message: string }
    | { readonly kind: "stopped" };
}

/**
 * @param file relative to the DAG folder
 * @param knownHash of a bundle that need not be run and recorded again
 */
export async function readDagFile(
  deps: ReadFileDeps,
  file: string,
  tree: DagTree,
  knownHash: string | undefined,
): Promise<FileRead> {
  const { db, config, log, signal } = deps;
  const folder = posix.dirname(file);
  const bundle = await bundleDagFile(join(tree.folder, file));
  if ("problems" in bundle) {
    const message = await deps.redact(fileProblemsText(folder, bundle.problems));
    const changed = await recordFailure(db, file, message);
    return { inputs: bundle.inputs, hash: undefined, result: { kind: "unbundled", changed, message } };
  }
  const { inputs, hash } = bundle;
  if (hash === knownHash) return { inputs, hash, result: { kind: "same" } };
  for (const warning of bundle.warnings) log.warn({ file, warning: formatProblem(warning) }, "a DAG file is doubtful");

  const parsed = await parseInChild(bundle, {
    timeoutMs: config.dag_processor.dag_file_processor_timeout * 1000,
    memoryMb: config.dag_processor.dag_file_processor_memory_mb,
    signal,
    folder,
  });
  if (parsed.kind === "stopped") return { inputs, hash, result: parsed };
  if (parsed.output !== "") log.debug({ file, output: parsed.output }, "a DAG file wrote something while it was read");
  if (parsed.kind === "failed") {
    const message = await deps.redact(parsed.message);
    const changed = await recordFailure(db, file, message);
    return { inputs, hash, result: { kind: "failed", changed, message } };
  }
  const { dags, durationMs } = parsed;
  const [fileloc, bundleVersion] = [join(tree.shownAs, file), tree.version];
  return {
    inputs,
    hash,
    result: await recordParsed(db, { file, fileloc, bundleVersion, bundle, dags, durationMs }, config),
  };
}
