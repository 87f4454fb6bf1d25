import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { lockFolder } from "./folder-lock.ts";

async function folder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "millrace-lock-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

test("one has the folder, the next is told who, and after the release it is free", async () => {
  const dir = await folder();
  const unlock = await lockFolder(dir);
  await expect(lockFolder(dir)).rejects.toMatchObject({
    code: "STANDALONE_RUNNING",
    message: expect.stringContaining(`process ${process.pid}`) as unknown,
  });
  await unlock();
  await (
    await lockFolder(dir)
  )();
});

test.each([
  ["of a process that is gone", { pid: 2 ** 22 - 1, started: "1" }],
  ["whose number another process has now", { pid: process.pid, started: "1" }],
])("a lock %s is taken over", async (_what, left) => {
  if (process.platform !== "linux" && left.pid === process.pid) return;
  const dir = await folder();
  await writeFile(join(dir, "standalone.pid"), JSON.stringify(left));
  const unlock = await lockFolder(dir);
  expect(JSON.parse(await readFile(join(dir, "standalone.pid"), "utf8"))).toMatchObject({ pid: process.pid });
  await unlock();
});

test("a damaged lock is taken over", async () => {
  const dir = await folder();
  await writeFile(join(dir, "standalone.pid"), "");
  await (
    await lockFolder(dir)
  )();
});
