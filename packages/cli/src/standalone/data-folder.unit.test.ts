import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { keptPostgresPort, keptSecret, makeDataFolder } from "./data-folder.ts";

async function folder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "millrace-data-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

test("a secret is made once, kept, and readable by its owner only", async () => {
  const dir = await folder();
  const made = await keptSecret(dir, "admin-password", 12);
  expect(made).toMatch(/^[\w-]{16}$/);
  expect(await keptSecret(dir, "admin-password", 12)).toBe(made);
  expect((await stat(join(dir, "admin-password"))).mode & 0o777).toBe(0o600);
});

test("the port is that of the last time, unless somebody else has it now", async () => {
  const dir = await folder();
  const port = await keptPostgresPort(dir);
  expect(await keptPostgresPort(dir)).toBe(port);
  const other = createServer().listen(port, "127.0.0.1");
  await new Promise((resolve) => other.once("listening", resolve));
  onTestFinished(() => void other.close());
  expect((other.address() as AddressInfo).port).toBe(port);
  const next = await keptPostgresPort(dir);
  expect(next).not.toBe(port);
  expect(await keptPostgresPort(dir)).toBe(next);
});

test("a folder that cannot be made is told, with what to do", async () => {
  const dir = await folder();
  await writeFile(join(dir, "file"), "");
  await expect(makeDataFolder(join(dir, "file"))).rejects.toMatchObject({
    code: "STANDALONE_FOLDER_UNUSABLE",
    message: expect.stringContaining("--data") as unknown,
  });
});
