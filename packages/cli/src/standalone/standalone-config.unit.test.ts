import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { captureIo } from "../fixtures/capture-io.ts";
import { standaloneConfig } from "./standalone-config.ts";

async function configWith(env: Readonly<Record<string, string>>) {
  const folder = await mkdtemp(join(tmpdir(), "millrace-standalone-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return await standaloneConfig(captureIo(env, folder).io, { data: folder }, folder, "postgres://x@h/y");
}

test("tasks that have to stop get the time that was configured, and the end of a standalone is soon unless it was", async () => {
  const plain = await configWith({});
  expect([plain.core.killed_task_cleanup_time, plain.workers.graceful_timeout]).toEqual([10, 4]);
  const env = { MILLRACE__CORE__KILLED_TASK_CLEANUP_TIME: "30", MILLRACE__WORKERS__GRACEFUL_TIMEOUT: "60" };
  const own = await configWith(env);
  expect([own.core.killed_task_cleanup_time, own.workers.graceful_timeout]).toEqual([30, 60]);
});
