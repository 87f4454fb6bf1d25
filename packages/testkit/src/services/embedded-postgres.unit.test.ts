import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startEmbeddedPostgres } from "@millrace/cli/embedded-postgres";
import { expect, onTestFinished, test, vi } from "vitest";
import { withClient } from "../database/admin.ts";
import { startProcess } from "../vitest-hooks.ts";

const OWNER = fileURLToPath(new URL("./fixtures/postgres-owner.ts", import.meta.url));

vi.setConfig({ testTimeout: 60_000 }); // initdb writes 1,000 files; on a busy disk that takes its time.

async function scratchFolder(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "embedded-postgres-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

const setting = (url: string, name: string): Promise<unknown> =>
  withClient(url, async (client) => Object.values((await client.query(`show ${name}`)).rows[0] ?? {})[0]);

test("data, password and durability are kept from one start to the next", async () => {
  const dir = await scratchFolder();
  const first = await startEmbeddedPostgres({ dir });
  expect(await setting(first.url, "fsync")).toBe("on");
  await withClient(first.url, (client) => client.query("create table kept (id int)"));
  await first.stop();
  const second = await startEmbeddedPostgres({ dir, port: first.port });
  expect(second.url).toBe(first.url);
  await withClient(second.url, (client) => client.query("select from kept"));
  await second.stop();
});

test("a second server on the same data is refused while the first one runs on", async () => {
  const dir = await scratchFolder();
  const first = await startEmbeddedPostgres({ dir, durable: false });
  await expect(startEmbeddedPostgres({ dir, formerTimeoutMs: 100 })).rejects.toThrow(
    /already running on .* use another/,
  );
  expect(await setting(first.url, "fsync")).toBe("off");
  await first.stop();
});

test("a server ends when its owner is killed, and the next owner waits for that", async () => {
  const dir = await scratchFolder();
  const owner = startProcess({ entry: OWNER, args: [dir] });
  await owner.waitForLine(/^postgres:/);
  owner.kill("SIGKILL");
  const next = await startEmbeddedPostgres({ dir });
  await next.stop();
});

test("the postmaster.pid of a machine that lost power is no obstacle, even if its number is in use again", async () => {
  const dir = await scratchFolder();
  await (await startEmbeddedPostgres({ dir, durable: false })).stop();
  await writeFile(join(dir, "data", "postmaster.pid"), `${process.pid}\n${join(dir, "data")}\n`);
  const server = await startEmbeddedPostgres({ dir });
  await server.stop();
});

test("a start that fails tells what the server wrote", async () => {
  const dir = await scratchFolder();
  await expect(startEmbeddedPostgres({ dir, durable: false, settings: { max_connections: 0 } })).rejects.toThrow(
    /ended while starting[^]*max_connections/,
  );
});
