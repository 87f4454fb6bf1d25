// The text of parse-child as plain JavaScript. An installed package has it compiled; in a checkout its types are
// stripped, once a process: a child that had to load a compiler itself would take ten times as long to start.
import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { transform } from "esbuild";

let program: Promise<string> | undefined;

export function childProgram(): Promise<string> {
  return (program ??= load());
}

async function load(): Promise<string> {
  const extension = extname(new URL(import.meta.url).pathname);
  const text = await readFile(new URL(`./parse-child${extension}`, import.meta.url), "utf8");
  return extension === ".ts" ? (await transform(text, { loader: "ts", target: "node20" })).code : text;
}
