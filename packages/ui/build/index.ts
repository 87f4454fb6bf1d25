// Bundles the pages. A checkout has their sources and builds them when the API starts; an installed package has only the
// result, and nothing to build.
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, gzip } from "node:zlib";

const HERE = import.meta.dirname;
/** This file lies in `build/`, and compiled in `dist/build/`. */
const ROOT = existsSync(join(HERE, "..", "package.json")) ? join(HERE, "..") : join(HERE, "..", "..");
const SOURCES = join(ROOT, "src");

/** What the API serves. */
export const UI_FOLDER: string = join(ROOT, "dist", "web");

/** Builds the pages when they are missing or older than their sources. */
export async function prepareUi(): Promise<void> {
  if (!existsSync(SOURCES)) return;
  const built = await stat(join(UI_FOLDER, "index.html")).catch(() => undefined);
  if (built === undefined || (await newest(SOURCES)) > built.mtimeMs) await buildUi(UI_FOLDER);
}

/** Writes app.js, app.css, their compressed forms and index.html. */
export async function buildUi(outDir: string): Promise<void> {
  const { build } = await import("esbuild");
  // Two processes may build at once: each in a folder of its own, moved file by file, the document last.
  const draft = join(outDir, `.draft-${randomUUID()}`);
  await mkdir(draft, { recursive: true });
  try {
    await build({
      entryPoints: { app: join(SOURCES, "main.tsx") },
      outdir: draft,
      bundle: true,
      minify: true,
      format: "esm",
      target: "es2022",
      jsx: "automatic",
      loader: { ".svg": "dataurl" },
      define: { "process.env.NODE_ENV": '"production"' },
      logLevel: "warning",
      // This build must not depend on the settings of whoever starts the API.
      tsconfigRaw: {},
    });
    await cp(join(SOURCES, "index.html"), join(draft, "index.html"));
    const files = (await readdir(draft)).sort((a, b) => Number(a === "index.html") - Number(b === "index.html"));
    for (const file of files) await writeCompressed(join(draft, file));
    for (const file of files) {
      for (const name of [`${file}.br`, `${file}.gz`, file]) await rename(join(draft, name), join(outDir, name));
    }
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function writeCompressed(path: string): Promise<void> {
  const content = await readFile(path);
  await writeFile(`${path}.br`, await promisify(brotliCompress)(content));
  await writeFile(`${path}.gz`, await promisify(gzip)(content));
}

/** Of the sources that are built; tests are not. */
async function newest(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const times = entries
    .filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
    .map(async (entry) => (await stat(join(entry.parentPath, entry.name))).mtimeMs);
  return Math.max(0, ...(await Promise.all(times)));
}
