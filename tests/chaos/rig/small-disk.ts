// The disk for task logs: a file system of its own, so that it can be full while everything else has room. Where mounting is
// not permitted it is a plain folder, and a fault that needs it says that it was not done.
import { spawn } from "node:child_process";
import { mkdir, statfs } from "node:fs/promises";
import { once } from "node:events";

const ROOMY_MB = 512;

export class SmallDisk {
  readonly dir: string;
  readonly #isMounted: boolean;

  private constructor(dir: string, isMounted: boolean) {
    this.dir = dir;
    this.#isMounted = isMounted;
  }

  static async create(dir: string): Promise<SmallDisk> {
    await mkdir(dir, { recursive: true });
    return new SmallDisk(dir, await run("mount", "-t", "tmpfs", "-o", `size=${ROOMY_MB}m`, "millrace-chaos", dir));
  }

  /** Not a byte more than what is on it. False when it is not a disk of its own. */
  async fill(): Promise<boolean> {
    if (!this.#isMounted) return false;
    const { blocks, bfree, bsize } = await statfs(this.dir);
    // No size at all means half of the memory.
    return await this.#resize(`${Math.max(1, blocks - bfree) * bsize}`);
  }

  async empty(): Promise<void> {
    if (this.#isMounted) await this.#resize(`${ROOMY_MB}m`);
  }

  /** At the end: what still writes to it is gone. */
  async remove(): Promise<void> {
    if (this.#isMounted) await run("umount", "-l", this.dir);
  }

  async #resize(size: string): Promise<boolean> {
    return await run("mount", "-o", `remount,size=${size}`, this.dir);
  }
}

async function run(command: string, ...args: readonly string[]): Promise<boolean> {
  const child = spawn(command, args, { stdio: "ignore" });
  const ended = await once(child, "exit").catch(() => [1]); // there is no such command
  return ended[0] === 0;
}
