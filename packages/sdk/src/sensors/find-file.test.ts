import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findFile } from "./find-file.ts";

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
  ["a.csv", "a.csv"],
  ["missing.csv", undefined],
  ["*.csv", "a.csv"],
  ["b.*", "b.csv"],
  ["[!a].csv", "b.csv"],
  ["?.txt", "b.txt"],
  [".*.csv", ".g.csv"],
  ["in/*/d.csv", "in/2026/d.csv"],
  ["in/**/*.csv", "in/c.csv"],
  ["**/e(1).*", "in/2026/01/e(1).csv"],
  ["in/lo?p/a.csv", "in/loop/a.csv"],
  ["nowhere/*.csv", undefined],
  ["in/c.csv/*", undefined],
])("%s", async (pattern, first) => {
  expect((await findFile(join(folder, pattern)))?.path).toBe(first === undefined ? undefined : join(folder, first));
});
