// The sources of another commit, beside these and ready to run with the packages that are installed here.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { linkPackages } from "@millrace/testkit/rig";

const run = promisify(execFile);

export interface Checkout {
  readonly root: string;
  remove(): Promise<void>;
}

/** @throws when there is no such commit */
export async function checkOut(from: string, ref: string): Promise<Checkout> {
  const root = await mkdtemp(join(tmpdir(), "millrace-beside-"));
  const remove = () => rm(root, { recursive: true, force: true });
  try {
    const archive = join(root, "sources.tar");
    await run("git", ["archive", "--format=tar", "-o", archive, ref], { cwd: from });
    await mkdir(join(root, "sources"));
    await run("tar", ["-xf", archive, "-C", join(root, "sources")]);
    await linkPackages(join(root, "sources"), from);
    return { root: join(root, "sources"), remove };
  } catch (error) {
    await remove();
    throw new Error(`the sources of ${ref} cannot be had: ${(error as Error).message}`, { cause: error });
  }
}
