import { readFile, readdir } from "node:fs/promises";

/** The environment variable that every process started by a test process inherits. */
export const MARK = "MILLRACE_TESTKIT_MARK";

/**
 * Who lives of what `root` started: by its session, which a child cannot leave unless it makes its own, or by
 * the inherited mark, which it keeps even then. Reads /proc, so it finds nobody on other systems than Linux.
 */
export async function descendants(root: number, mark: string): Promise<number[]> {
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
      // "pid (any name) state ppid pgrp session …"
      const [state, , , session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (state === undefined || state === "" || state === "Z") return false;
      if (Number(session) === root) return true;
      const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
      return environment.includes(`${MARK}=${mark}`);
    }),
  );
  return pids.filter((_, index) => found[index]);
}
