// Programs that run in child processes start as plain JavaScript: a child that had to load a compiler first would take
// ten times as long. An installed package has them compiled; in a checkout they are bundled once a process.
import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * The text of the module `name` that stands beside the caller.
 * @param caller the caller's `import.meta.url`
 * @param name without extension: `./child`
 */
export async function plainProgram(caller: string, name: string): Promise<string> {
  const extension = extname(new URL(caller).pathname);
  const path = fileURLToPath(new URL(`${name}${extension}`, caller));
  if (extension !== ".ts") return await readFile(path, "utf8");
  const { build } = await import("esbuild");
  const built = await build({
    entryPoints: [path],
    bundle: true,
    write: false,
    platform: "node",
    format: "esm",
    target: "node20",
    packages: "external",
  });
  return built.outputFiles[0]?.text ?? "";
}
