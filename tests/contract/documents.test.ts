// What the documents say can be followed: paths exist, links lead somewhere, and DAGs that they show can be run.
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { startProcess } from "@millrace/testkit";
import { expect, onTestFinished, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const read = async (path: string): Promise<string> => await readFile(join(ROOT, path), "utf8");

const DOCUMENTS = [
  ...["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"],
  ...(await readdir(join(ROOT, "docs"), { recursive: true }))
    .filter((path) => path.endsWith(".md"))
    .map((path) => join("docs", path)),
];

/** `packages/…`, and the other folders of this repository: what stands in a code span and looks like that is a path. */
const PATH = /`((?:\.ci|bench|deploy|docs|examples|packages|scripts|tests)\/[\w./-]+)`/g;
const LINK = /\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)/g;
/** A TypeScript block marked as a DAG: the fence says `ts dag`. */
const DAG_BLOCK = /^```ts dag\n([^]*?)^```$/gm;

const found = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map((match) => match[1] ?? "");

test.each(DOCUMENTS)("%s names only what exists", async (document) => {
  const text = await read(document);
  const paths = found(text, PATH).map((path) => join(ROOT, path));
  const links = found(text, LINK).map((path) => join(ROOT, dirname(document), path));
  expect([...paths, ...links].filter((path) => !existsSync(path))).toEqual([]);
});

test("ARCHITECTURE.md names its files in full or by a name that is found, and can be read at one sitting", async () => {
  const text = await read("ARCHITECTURE.md");
  expect(found(text, PATH).length).toBeGreaterThan(30);
  const files = await readdir(join(ROOT, "packages"), { recursive: true });
  const short = found(text, /`((?:[\w-]+\/)?[\w-]+\.tsx?)`/g);
  expect(
    short.filter((name) => !files.some((path) => path.endsWith(`/src/${name}`) || path.endsWith(`/${name}`))),
  ).toEqual([]);
  expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(200);
});

test.each(["README.md", "docs/guides/first-dag.md", "docs/guides/waiting.md"])(
  "every DAG that %s shows can be run",
  async (document) => {
    const blocks = found(await read(document), DAG_BLOCK);
    expect(blocks).not.toEqual([]);
    const folder = await mkdtemp(join(tmpdir(), "millrace-documents-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    for (const [i, block] of blocks.entries()) {
      const file = join(folder, `block-${i + 1}.ts`);
      await writeFile(file, block);
      const run = startProcess({ args: ["dags", "test", file], cwd: folder });
      const exit = await run.exited;
      expect({ block: i + 1, ...exit, lines: exit.code === 0 ? [] : run.lines }).toMatchObject({ code: 0, lines: [] });
    }
  },
  60_000,
);
