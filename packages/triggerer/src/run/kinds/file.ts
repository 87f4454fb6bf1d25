// `millrace.file`: waits for a file, which may be named by a pattern: the first in alphabetical order counts.
import { findFile } from "@millrace/sdk/runtime";
import type { SingleKind } from "../polls.ts";

const AT_ONCE = 8;

export const file = (): SingleKind<{ readonly path: string }> => ({
  name: "millrace.file",
  atOnce: AT_ONCE,
  read: (kwargs) => ({ wait: { path: kwargs.text("path") }, pollMs: kwargs.pollMs(60) }),
  look: async ({ path }) => {
    const found = await findFile(path);
    return found === undefined ? undefined : { kind: "event", payload: { ...found } };
  },
});
