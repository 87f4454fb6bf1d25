// One standalone a folder. The lock is a file with the process id and, where the system tells it, the time at which that
// process started, so that a file left by a killed one is known even after its number was given to somebody else.
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AppError } from "@millrace/shared/errors";

const NAME = "standalone.pid";

/** @throws AppError STANDALONE_RUNNING. Gives back the release. */
export async function lockFolder(dir: string): Promise<() => Promise<void>> {
  const path = join(dir, NAME);
  const own = JSON.stringify({ pid: process.pid, started: await startedAt(process.pid) });
  for (;;) {
    try {
      await writeFile(path, own, { flag: "wx", mode: 0o600 });
      return async () => {
        await rm(path, { force: true });
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const holder = await readHolder(path);
    if (holder !== undefined && (await isAlive(holder))) {
      throw new AppError("STANDALONE_RUNNING", { dir, pid: holder.pid });
    }
    // RACE: of two that find it stale, the one whose write comes first has it; the other sees it alive.
    await rm(path, { force: true });
  }
}

interface Holder {
  readonly pid: number;
  readonly started: string | null;
}

async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    // Written above, or damaged.
    return JSON.parse(await readFile(path, "utf8")) as Holder;
  } catch {
    return undefined;
  }
}

async function isAlive({ pid, started }: Holder): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Somebody else's process is alive, too.
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  const now = await startedAt(pid);
  return started === null || now === null || now === started;
}

/** Clock ticks since boot at which a process started: field 22 of its stat. Null where there is no /proc. */
async function startedAt(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
}
