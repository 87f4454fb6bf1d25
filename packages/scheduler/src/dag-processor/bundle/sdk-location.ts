// Where the SDK is that goes into every bundle: the one that this package depends on, wherever a DAG folder lies and
// whatever is installed there. A checkout has its sources, an installed package only dist.
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

export interface SdkLocation {
  readonly folder: string;
  /** Absolute path of the module by its name: `@millrace/sdk/operators`. */
  readonly modules: ReadonlyMap<string, string>;
}

const SDK = "@millrace/sdk";
/** For tests of DAGs: it brings the deciders with it, which no worker needs. */
const NOT_IN_BUNDLES = "./testing";

let found: SdkLocation | undefined;

export function sdkLocation(): SdkLocation {
  return (found ??= locate());
}

function locate(): SdkLocation {
  const roots = createRequire(import.meta.url).resolve.paths(SDK) ?? [];
  const installed = roots.map((root) => join(root, SDK)).find((folder) => existsSync(join(folder, "package.json")));
  if (installed === undefined) throw new Error(`${SDK} is not installed beside the dag-processor: run npm install`);
  const folder = realpathSync(installed);
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    readonly exports: Readonly<Record<string, { readonly source?: string; readonly default?: string }>>;
  };
  const modules = Object.entries(manifest.exports).flatMap(([subpath, target]): [string, string][] => {
    // What has types only is no module.
    if (subpath === NOT_IN_BUNDLES || target.source === undefined || target.default === undefined) return [];
    const source = join(folder, target.source);
    return [[join(SDK, subpath), existsSync(source) ? source : join(folder, target.default)]];
  });
  return { folder, modules: new Map(modules) };
}
