import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@millrace/shared/observability";
import { expect, onTestFinished, test } from "vitest";
import { captureIo } from "../fixtures/capture-io.ts";
import { openProcessLog } from "./process-log.ts";

async function open() {
  const dir = await mkdtemp(join(tmpdir(), "millrace-log-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const told: string[] = [];
  const { io } = captureIo();
  const log = openProcessLog(io, dir, (line) => told.push(line));
  return { dir, log, told, logger: createLogger({ level: "info", name: "worker", destination: log }) };
}

test("everything is in the file, and people are told of warnings in words", async () => {
  const { dir, log, told, logger } = await open();
  logger.info("started");
  logger.warn({ cause: "disk full" }, "a log could not be written");
  log.close();
  expect(told).toEqual(["warn worker: a log could not be written cause=disk full"]);
  const lines = (await readFile(join(dir, "millrace.log"), "utf8")).trimEnd().split("\n");
  expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
    "started",
    "a log could not be written",
  ]);
});

test("while everything ends only errors are told", async () => {
  const { log, told, logger } = await open();
  log.tellOnlyErrors();
  logger.warn("a connection was lost");
  logger.error("it broke");
  log.close();
  expect(told).toEqual(["error worker: it broke"]);
});

test("the log of the last start is kept", async () => {
  const { dir, log, logger } = await open();
  logger.info("first");
  log.close();
  const { io } = captureIo();
  openProcessLog(io, dir, () => undefined).close();
  expect(await readFile(join(dir, "millrace.log.1"), "utf8")).toContain("first");
});
