// Gets the commit of a ref and lays its files out in a folder of their own:
//   <folder>/repo.git        what was fetched, one commit deep
//   <folder>/trees/<commit>  its files; complete as soon as it has this name, and never changed afterwards
//   <folder>/current         a link to the newest
// A reader of one commit is not disturbed by the next. Any number of processes may share the folder.
import { mkdir, readdir, readlink, rename, rm, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { fetchArguments, runGit, type GitRemote } from "./run-git.ts";

export interface GitTree extends GitRemote {
  readonly ref: string;
  /** Absolute path. */
  readonly folder: string;
}

const KEPT_TREES = 3;
const COMMIT = /^[0-9a-f]{40,64}$/;

/** @returns the commit that the ref has now, laid out. @throws GitError */
export async function fetchTree(tree: GitTree): Promise<string> {
  const repository = join(tree.folder, "repo.git");
  await mkdir(join(tree.folder, "trees"), { recursive: true });
  if (!(await exists(join(repository, "HEAD")))) await runGit(tree, ["init", "--quiet", "--bare", repository]);
  // A name of one's own: two processes that share the folder do not take each other's.
  const mine = `refs/millrace/${process.pid}`;
  await runGit(tree, fetchArguments(tree, repository, `+${tree.ref}:${mine}`));
  const commit = (await runGit(tree, [`--git-dir=${repository}`, "rev-parse", "--verify", `${mine}^{commit}`])).trim();
  if (!(await exists(join(tree.folder, "trees", commit)))) await layOut(tree, repository, commit);
  await pointTo(tree.folder, commit);
  await forgetOld(tree.folder, commit);
  return commit;
}

/** The commit that was laid out last, if any. */
export async function knownCommit(folder: string): Promise<string | undefined> {
  const target = await readlink(join(folder, "current")).catch(() => "");
  const commit = target.split("/").at(-1) ?? "";
  return COMMIT.test(commit) && (await exists(join(folder, "trees", commit))) ? commit : undefined;
}

async function layOut(tree: GitTree, repository: string, commit: string): Promise<void> {
  const made = join(tree.folder, "trees", `.new-${randomUUID()}`);
  await mkdir(made);
  try {
    const place = { GIT_INDEX_FILE: `${made}.index`, GIT_WORK_TREE: made };
    await runGit(tree, [`--git-dir=${repository}`, "read-tree", "--reset", "-u", commit], place);
    await rename(made, join(tree.folder, "trees", commit)).catch(async (error: unknown) => {
      // RACE: another process was faster; what it made is the same.
      if (!(await exists(join(tree.folder, "trees", commit)))) throw error;
    });
  } finally {
    await Promise.all([made, `${made}.index`].map((path) => rm(path, { recursive: true, force: true })));
  }
}

async function pointTo(folder: string, commit: string): Promise<void> {
  if ((await knownCommit(folder)) === commit) return;
  const link = join(folder, `.current-${randomUUID()}`);
  await symlink(join("trees", commit), link);
  await rename(link, join(folder, "current"));
}

/** The newest stay: what is being read now may still be the one before. */
async function forgetOld(folder: string, commit: string): Promise<void> {
  const names = (await readdir(join(folder, "trees"))).filter((name) => COMMIT.test(name) && name !== commit);
  const aged = await Promise.all(
    names.map(async (name) => ({
      name,
      at: (await stat(join(folder, "trees", name)).catch(() => undefined))?.ctimeMs ?? 0,
    })),
  );
  const old = aged.sort((a, b) => b.at - a.at).slice(KEPT_TREES - 1);
  await Promise.all(old.map(({ name }) => rm(join(folder, "trees", name), { recursive: true, force: true })));
}

const exists = async (path: string): Promise<boolean> =>
  await stat(path).then(
    () => true,
    () => false,
  );
