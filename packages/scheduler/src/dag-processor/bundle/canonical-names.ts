// Names of a bundle's files that are the same on every machine, so that equal code has equal hashes. esbuild writes
// paths relative to the DAG file; those that lead out of its folder tell where packages are installed here.
import { relative, resolve } from "node:path";

export const SDK_PREFIX = "@millrace/sdk/";

/** The name by path relative to `folder`, for each of `paths` that leads to the SDK or into a package. */
export function canonicalNames(
  paths: readonly string[],
  folder: string,
  sdkFolder: string,
): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const path of paths) {
    const inSdk = relative(sdkFolder, resolve(folder, path));
    const inPackage = path.indexOf("node_modules/");
    if (!inSdk.startsWith("..")) names.set(path, SDK_PREFIX + inSdk);
    else if (inPackage >= 0) names.set(path, path.slice(inPackage));
  }
  return names;
}

/** Whether a canonical name is of a file that the user wrote. */
export const isUsersFile = (name: string): boolean => !name.startsWith(SDK_PREFIX) && !name.startsWith("node_modules/");

/** Replaces paths where esbuild writes them: the comment above a module, the key of a CommonJS one. Lines stay. */
export function renameModules(code: string, names: ReadonlyMap<string, string>): string {
  return code.replace(/^(\/\/ |  ")(.+?)(?=$|"\()/gm, (whole, before: string, path: string) => {
    const name = names.get(path);
    return name === undefined ? whole : before + name;
  });
}
