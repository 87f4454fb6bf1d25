// A stack of bundled DAG code as its author wants to see it: their files, lines and functions, nothing of ours. Called
// where an error is shown or stored: by the dag-processor for import errors, by the worker for failed attempts.
import { SourceMap, type SourceMapPayload } from "node:module";
import { posix } from "node:path";

export interface MapStackOptions {
  /** Folder of the DAG file relative to the DAG folder: files are then named relative to that. Default: `.`. */
  readonly folder?: string;
}

const FRAME = /^\s+at /;
/** `at name (location:line:column)` or `at async location:line:column`. */
const LOCATED = /^\s+at (?:(.*?) \(|async (?=\S+$))?(.*?):(\d+):(\d+)\)?$/;
/** V8 says `<anonymous>` where it has no name for what lies at the top of a file. */
const NAMELESS = new Set([undefined, "", "<anonymous>"]);
/** Whoever writes a bundle to disk names it by its hash. */
const BUNDLE_FILE = /[0-9a-f]{64}[^/\\]*\.m?js(?:\?.*)?$/;

/**
 * `stack` as V8 printed it, with the frames of the bundle at their place in the source. Frames of the SDK, of Node and
 * of the process around the bundle are dropped.
 */
export function mapStack(stack: string, sourceMap: string, options: MapStackOptions = {}): string {
  const lines = stack.split("\n");
  const map = new SourceMap(JSON.parse(sourceMap) as SourceMapPayload);
  const anyFile = !lines.some((line) => BUNDLE_FILE.test(LOCATED.exec(line)?.[2] ?? ""));
  return lines
    .flatMap((line) => {
      if (!FRAME.test(line)) return [line];
      const [, name, file = "", row, column] = LOCATED.exec(line) ?? [];
      if (file.startsWith("node:") || !(anyFile || BUNDLE_FILE.test(file))) return [];
      const entry = map.findEntry(Number(row) - 1, Number(column) - 1);
      if (!("originalSource" in entry) || !isShown(entry.originalSource)) return [];
      const source = posix.join(options.folder ?? ".", entry.originalSource);
      const place = `${source}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
      return [NAMELESS.has(name) ? `    at ${place}` : `    at ${name} (${place})`];
    })
    .join("\n");
}

const isShown = (source: string): boolean => !source.startsWith("@millrace/sdk/");
