import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findFiles } from "./find-files.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-files-"));
  await mkdir(join(folder, "in/2026/01"), { recursive: true });
  await mkdir(join(folder, "in/.hidden"));
  for (const name of [
    "a.csv",
    "b.csv",
    "b.txt",
    "in/c.csv",
    "in/2026/d.csv",
    "in/2026/01/e(1).csv",
    "in/.hidden/f.csv",
    ".g.csv",
  ])
    await writeFile(join(folder, name), name);
  await symlink(folder, join(folder, "in/loop"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test.each([
  ["a.csv", ["a.csv"]],
  ["missing.csv", []],
  ["*.csv", ["a.csv", "b.csv"]],
  ["b.*", ["b.csv", "b.txt"]],
  ["[!a].csv", ["b.csv"]],
  ["?.txt", ["b.txt"]],
  [".*.csv", [".g.csv"]],
  ["in/*/d.csv", ["in/2026/d.csv"]],
  ["in/**/*.csv", ["in/2026/01/e(1).csv", "in/2026/d.csv", "in/c.csv"]],
  ["**/e(1).*", ["in/2026/01/e(1).csv"]],
  ["in/lo?p/a.csv", ["in/loop/a.csv"]],
  ["nowhere/*.csv", []],
  ["in/c.csv/*", []],
])("%s", async (pattern, found) => {
  expect(await findFiles(join(folder, pattern))).toEqual(found.map((name) => join(folder, name)));
});
