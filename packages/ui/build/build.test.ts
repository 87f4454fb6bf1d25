import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { buildUi } from "./index.ts";

test("the pages are one document, one script, one style, each compressed too, and no inline code", async () => {
  const folder = await mkdtemp(join(tmpdir(), "millrace-ui-"));
  try {
    await buildUi(folder);
    const names = ["app.css", "app.js", "index.html"];
    const all = names.flatMap((name) => [name, `${name}.br`, `${name}.gz`]);
    expect((await readdir(folder)).sort()).toEqual(all.sort());
    const document = await readFile(join(folder, "index.html"), "utf8");
    expect(document).not.toMatch(/<script(?![^>]*\bsrc=)|\sstyle=|\son\w+=/);
    expect((await readFile(join(folder, "app.js.br"))).length).toBeLessThan(100_000);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
