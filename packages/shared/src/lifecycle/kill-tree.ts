// SIGKILL to a process and all that descends from it, however they grouped themselves.
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** Those already gone are no error. */
export async function killTree(pid: number): Promise<void> {
  const children = new Map<number, number[]>();
  for (const [child, parent] of await parents()) children.set(parent, [...(children.get(parent) ?? []), child]);
  const doomed = [pid];
  for (let i = 0; i < doomed.length; i++) doomed.push(...(children.get(doomed[i] as number) ?? []));
  for (const each of doomed) {
    try {
      process.kill(each, "SIGKILL");
    } catch {
      // It ended by itself.
    }
  }
}

/** Every process with its parent: from /proc where there is one, since slim images have no ps. */
async function parents(): Promise<[child: number, parent: number][]> {
  if (process.platform !== "linux") {
    const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,ppid="]);
    return stdout.split("\n").map((line) => line.trim().split(/\s+/).map(Number) as [number, number]);
  }
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (name): Promise<[number, number][]> => {
      const stat = await readFile(`/proc/${name}/stat`, "utf8").catch(() => "");
      // The command's name, in parentheses, may hold anything; the parent is the second field after it.
      const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
      return Number.isInteger(parent) ? [[Number(name), parent]] : [];
    }),
  );
  return found.flat();
}
