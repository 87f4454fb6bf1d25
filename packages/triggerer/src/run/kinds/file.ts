// `millrace.file`: waits for a file, which may be named by a pattern: the first in alphabetical order counts.
import { stat } from "node:fs/promises";
import { findFiles } from "../find-files.ts";
import type { SingleKind } from "../polls.ts";

const AT_ONCE = 8;

export const file = (): SingleKind<{ readonly path: string }> => ({
  name: "millrace.file",
  atOnce: AT_ONCE,
  read: (kwargs) => ({ wait: { path: kwargs.text("path") }, pollMs: kwargs.pollMs(60) }),
  look: async ({ path }) => {
    for (const found of await findFiles(path)) {
      // It may be gone again.
      const stats = await stat(found).catch(() => undefined);
      if (stats !== undefined) {
        return { kind: "event", payload: { path: found, size: stats.size, modifiedAt: stats.mtime.toISOString() } };
      }
    }
    return undefined;
  },
});
