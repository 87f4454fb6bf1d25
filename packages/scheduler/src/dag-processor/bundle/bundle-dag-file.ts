// A DAG file becomes one content-addressed ES module: the SDK, local imports and npm packages are in it, so any worker
// can run it without the folder it came from.
import { createHash } from "node:crypto";
import { readFile, realpath } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { build, type BuildFailure, type Message, type Metafile } from "esbuild";
import { messageOf } from "@millrace/shared/errors";
import { canonicalNames, isUsersFile, renameModules, SDK_PREFIX } from "./canonical-names.ts";
import type { DagBundle, FailedBundle, FileProblem } from "./dag-bundle.ts";
import { sdkLocation } from "./sdk-location.ts";
import { sdkPlugin } from "./sdk-plugin.ts";

const ENTRY = "millrace:dag-file";
const ENTRY_NAME = "millrace-entry.js";

// Bundled CommonJS packages use what an ES module lacks. esbuild keeps `require` free; the two others are given other
// names, because many a file declares them itself.
const BANNER = `import { createRequire as millraceRequire } from "node:module";
import { fileURLToPath as millracePath } from "node:url";
const require = millraceRequire(import.meta.url);
const millraceFilename = millracePath(import.meta.url), millraceDirname = millracePath(new URL(".", import.meta.url));`;

/** Reads and bundles the DAG file at `path`. Whatever is wrong with it is in the result. */
export async function bundleDagFile(path: string): Promise<DagBundle | FailedBundle> {
  let file: string;
  let source: string;
  try {
    file = await realpath(path);
    source = await readFile(file, "utf8");
  } catch (error) {
    return { problems: [{ message: `The file cannot be read: ${messageOf(error)}` }], inputs: [resolve(path)] };
  }
  const folder = dirname(file);
  try {
    const result = await build({
      stdin: {
        contents: `import "${ENTRY}";\nexport { artifact } from "@millrace/sdk/runtime";\n`,
        resolveDir: folder,
        sourcefile: ENTRY_NAME,
      },
      absWorkingDir: folder,
      outfile: join(folder, "bundle.mjs"),
      bundle: true,
      write: false,
      metafile: true,
      format: "esm",
      platform: "node",
      target: "node20",
      sourcemap: "external",
      legalComments: "none",
      logLevel: "silent",
      loader: { ".csv": "text", ".txt": "text", ".sql": "text", ".md": "text", ".json": "json" },
      keepNames: true,
      define: { __filename: "millraceFilename", __dirname: "millraceDirname" },
      banner: { js: BANNER },
      plugins: [sdkPlugin(file, ENTRY)],
    });
    const text = (ending: string) => result.outputFiles.find((output) => output.path.endsWith(ending))?.text ?? "";
    return finish(
      { folder, source, code: text(".mjs"), map: text(".map"), metafile: result.metafile },
      result.warnings,
    );
  } catch (error) {
    const messages = (error as Partial<BuildFailure>).errors;
    if (messages === undefined) throw error;
    const named = messages.flatMap(({ location }) => (location === null ? [] : [resolve(folder, location.file)]));
    return { problems: messages.map((message) => problemOf(message)), inputs: [...new Set([file, ...named])] };
  }
}

interface Built {
  readonly folder: string;
  readonly source: string;
  readonly code: string;
  readonly map: string;
  readonly metafile: Metafile;
}

function finish({ folder, source, code, map, metafile }: Built, warnings: readonly Message[]): DagBundle {
  const paths = Object.keys(metafile.inputs).filter((path) => path !== ENTRY_NAME);
  const sourceMap = JSON.parse(map) as { sources: string[]; sourcesContent: (string | null)[] };
  // A package that has a source map of its own adds sources that are no inputs.
  const names = canonicalNames([...paths, ...sourceMap.sources], folder, sdkLocation().folder);
  const nameOf = (path: string) => names.get(path) ?? path;
  const outsideSdk = paths.filter((path) => !nameOf(path).startsWith(SDK_PREFIX));
  const sources = sourceMap.sources.map(nameOf);
  const contents = sourceMap.sourcesContent.map((content, i) => (isUsersFile(sources[i] ?? "") ? content : null));
  // The users' texts count, too: with only a comment changed the lines in the map are others.
  const texts = sha256(JSON.stringify(sources.map((name, i) => [name, contents[i] ?? null])));
  const named = `${renameModules(code, names)}// sources ${texts}\n`;
  return {
    code: named,
    sourceMap: JSON.stringify({ ...sourceMap, sources, sourcesContent: contents }),
    hash: sha256(named),
    inputs: outsideSdk.map((path) => resolve(folder, path)),
    source,
    warnings: [
      ...warnings.filter((warning) => concernsUser(warning, nameOf)).map(problemOf),
      ...sources.flatMap((name, i) => ownFolderProblems(name, contents[i] ?? "")),
    ],
  };
}

/** What is odd inside of a package is no business of the DAG's author, but for an add-on that will be missing. */
const concernsUser = ({ pluginName, location }: Message, nameOf: (path: string) => string): boolean =>
  pluginName !== "" || location === null || isUsersFile(nameOf(location.file));

/** A file beside the code is not there when the code runs on a worker. */
function ownFolderProblems(file: string, text: string): FileProblem[] {
  return text.split("\n").flatMap((line, i) => {
    const at = line.search(/\bimport\.meta\.(url|dirname|filename)\b/);
    if (at < 0) return [];
    const message =
      "import.meta names where the code runs, not this folder: its files do not travel with it. Import .csv, .txt, .sql, .md and .json files instead";
    return [{ message, file, line: i + 1, column: at + 1, text: line }];
  });
}

function problemOf({ text, location }: Message): FileProblem {
  const missing = /^Could not resolve "([^./][^"]*)"$/.exec(text)?.[1];
  const message =
    missing === undefined
      ? text
      : `${text}: install the package in the DAG folder or one above it (npm install ${missing})`;
  if (location === null) return { message };
  return { message, file: location.file, line: location.line, column: location.column + 1, text: location.lineText };
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
