// Whether files are as they were when they were read, told by their time and size.
import { stat } from "node:fs/promises";

/** `-` for a file that is not there: it may come. */
export type InputStamps = ReadonlyMap<string, string>;

const MISSING = "-";
/** File systems keep times this coarsely, at worst. */
const GRANULARITY_MS = 1_000;

export async function stampInputs(paths: Iterable<string>): Promise<InputStamps> {
  const stamps = await Promise.all(
    [...new Set(paths)].map(async (path): Promise<[string, string]> => {
      const found = await stat(path).catch(() => undefined);
      return [path, found === undefined ? MISSING : `${found.mtimeMs}:${found.size}:${found.ino}`];
    }),
  );
  return new Map(stamps);
}

export async function areChanged(stamps: InputStamps, paths: Iterable<string> = stamps.keys()): Promise<boolean> {
  const now = await stampInputs(paths);
  return [...now].some(([path, stamp]) => stamps.get(path) !== stamp);
}

/** Whether a file was written so shortly before `readAt` that a later write could leave the same stamp. */
export const areTooFresh = (stamps: InputStamps, readAt: number): boolean =>
  [...stamps.values()].some((stamp) => Number.parseFloat(stamp) > readAt - GRANULARITY_MS);
