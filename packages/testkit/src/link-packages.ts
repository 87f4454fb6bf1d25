import { mkdir, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";

/**
 * Makes other sources of this workspace runnable: their packages of the workspace lead to themselves, and all others to
 * what is installed here.
 *
 * @param root holds `packages` and no `node_modules`
 * @param installedRoot the workspace whose packages are installed
 */
export async function linkPackages(root: string, installedRoot: string): Promise<void> {
  const installed = join(installedRoot, "node_modules");
  await mkdir(join(root, "node_modules", "@millrace"), { recursive: true });
  for (const name of await readdir(installed)) {
    if (name !== "@millrace") await symlink(join(installed, name), join(root, "node_modules", name));
  }
  for (const name of await readdir(join(root, "packages"))) {
    await symlink(join(root, "packages", name), join(root, "node_modules", "@millrace", name));
    const own = join(installedRoot, "packages", name, "node_modules");
    if ((await readdir(own).catch(() => [])).length > 0)
      await symlink(own, join(root, "packages", name, "node_modules"));
  }
}
