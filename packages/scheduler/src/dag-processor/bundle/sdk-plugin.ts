// What a bundle resolves differently from esbuild: the SDK under both of its names, data files of packages, add-ons that
// cannot be bundled, and the DAG file itself, which is kept even in a package that claims to have no side effects.
import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Plugin } from "esbuild";
import { sdkLocation } from "./sdk-location.ts";

const SDK_NAMES = /^(?:@millrace\/sdk|apache-airflow-ts-sdk)(\/.*)?$/;

/** Where Airflow's SDK has modules for what ours has in its main one. */
const AIRFLOW_MODULES = /^apache-airflow-ts-sdk\/hitl$/;

/** A file of a package that is no module: it is taken as it lies there, whatever the package says it exports. */
const PACKAGE_DATA = /^[^./].*\.(?:csv|txt|sql|md|json)$/;

/** Keeps the question whether a path resolves from being asked for ever. */
const ASKED = Symbol("asked");

const isOfPackage = (file: string): boolean => file.includes("/node_modules/");

/** The add-on by the name of its package, under which a worker finds it that has the package. */
function inPackage(path: string, resolveDir: string): string {
  const [file, folder] = [path.startsWith(".") ? join(resolveDir, path) : path, "/node_modules/"];
  const at = file.lastIndexOf(folder);
  return at < 0 ? path : file.slice(at + folder.length);
}

/** `dagFile` is the absolute path that the import of `entryImport` stands for. */
export const sdkPlugin = (dagFile: string, entryImport: string): Plugin => ({
  name: "millrace",
  setup(build) {
    build.onResolve({ filter: SDK_NAMES }, ({ path }) => {
      const { modules } = sdkLocation();
      const name = AIRFLOW_MODULES.test(path) ? "@millrace/sdk" : path.replace(SDK_NAMES, "@millrace/sdk$1");
      const file = modules.get(name);
      if (file !== undefined) return { path: file };
      if (name === "@millrace/sdk/testing") {
        return {
          errors: [{ text: `"${path}" is for tests: import it in a file beside the DAG, not in the DAG file` }],
        };
      }
      return { errors: [{ text: `The SDK has no module "${path}"; it has ${[...modules.keys()].join(", ")}` }] };
    });
    build.onResolve({ filter: PACKAGE_DATA }, ({ path, resolveDir }) => {
      const roots = createRequire(join(resolveDir, "file.js")).resolve.paths(path) ?? [];
      const file = roots.map((root) => join(root, path)).find((candidate) => existsSync(candidate));
      return file === undefined ? undefined : { path: realpathSync(file) };
    });
    build.onResolve({ filter: /\.node$/ }, ({ path, resolveDir, importer }) => ({
      path: inPackage(path, resolveDir),
      external: true,
      // Packages ask for the add-ons of all platforms; those of others are not there.
      warnings:
        isOfPackage(importer) && path.startsWith(".") && !existsSync(join(resolveDir, path))
          ? []
          : [
              {
                text: `The native add-on "${path}" cannot travel with the DAG's code: install its package where workers find it (NODE_PATH), or use one without native code`,
              },
            ],
    }));
    // The main file of a package may be an add-on.
    build.onLoad({ filter: /\.node$/ }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(inPackage(path, ""))});`,
      resolveDir: dirname(path),
    }));
    // A package that requires what is not installed may do so for another platform, or never: as in Node that is known when
    // it comes to it.
    build.onResolve({ filter: /^[^./]/ }, async ({ path, kind, importer, resolveDir, pluginData }) => {
      if (kind !== "require-call" || pluginData === ASKED || !isOfPackage(importer)) return undefined;
      const { errors } = await build.resolve(path, { kind, importer, resolveDir, pluginData: ASKED });
      return errors.length === 0 ? undefined : { path, external: true };
    });
    build.onResolve({ filter: /^millrace:dag-file$/ }, ({ path }) =>
      path === entryImport ? { path: dagFile, sideEffects: true } : undefined,
    );
  },
});
