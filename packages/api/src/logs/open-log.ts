// Finds and opens the log of an attempt. Three things keep a request within the folder: the ids name a task instance
// that exists, the path encodes them, and what is opened is a plain file whose real place is below the folder.
import { constants } from "node:fs";
import { open, realpath, type FileHandle } from "node:fs/promises";
import { dirname, sep } from "node:path";
import { attemptLogPath, type AttemptLogKey } from "@millrace/shared/observability";

const MISSING = new Set(["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG"]);

/** Undefined: there is no such file here. The caller closes the handle. */
export async function openLog(base: string, key: AttemptLogKey): Promise<FileHandle | undefined> {
  const path = attemptLogPath(base, key);
  try {
    const [root, folder] = await Promise.all([realpath(base), realpath(dirname(path))]);
    if (!folder.startsWith(root + sep)) return undefined;
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if ((await handle.stat()).isFile()) return handle;
    await handle.close();
    return undefined;
  } catch (error) {
    if (MISSING.has((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}
