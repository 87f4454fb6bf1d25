import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { testDagFolder } from "../fixtures/dag-folder.ts";
import { parseIgnoreRules } from "./ignore-rules.ts";
import { listDagFiles } from "./list-dag-files.ts";

test("lists what may hold DAGs, in all folders but packages and hidden ones", async () => {
  const names = [
    "a.ts",
    "b.mts",
    "c.js",
    "d.mjs",
    "deep/er/e.ts",
    "types.d.ts",
    "a.test.ts",
    ".hidden.ts",
    ".git/f.ts",
    "node_modules/p/g.js",
    "notes.md",
  ];
  const folder = await testDagFolder(Object.fromEntries(names.map((name) => [name, ""])));
  const { files, folders } = await listDagFiles(folder.path);
  expect(files).toEqual(["a.ts", "b.mts", "c.js", "d.mjs", "deep/er/e.ts"]);
  expect(folders).toEqual(["", "deep", "deep/er"].map((name) => join(folder.path, name)));
});

test("follows links, and a link to a folder around it only once", async () => {
  const [folder, elsewhere] = [await testDagFolder({ "a.ts": "" }), await testDagFolder({ "b.ts": "" })];
  await symlink(elsewhere.path, join(folder.path, "linked"));
  await symlink(folder.path, join(folder.path, "again"));
  expect((await listDagFiles(folder.path)).files).toEqual(["a.ts", "linked/b.ts"]);
});

test(".millraceignore takes patterns as .gitignore does", () => {
  const ignored = parseIgnoreRules("# comment\n*.gen.ts\n/top.ts\nbuild/\nteam/**/draft?.ts\n!keep.gen.ts\n");
  const check = (path: string, isFolder = false): boolean => ignored(path, isFolder);
  expect(
    ["a.gen.ts", "x/a.gen.ts", "top.ts", "team/draft1.ts", "team/x/y/draft2.ts"].filter((path) => !check(path)),
  ).toEqual([]);
  expect(["keep.gen.ts", "x/top.ts", "build", "team/draft10.ts", "agents"].filter((path) => check(path))).toEqual([]);
  expect([check("build", true), check("x/build", true)]).toEqual([true, true]);
});
