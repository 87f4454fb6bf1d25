// Reads a task's log where its worker wrote it, and follows it while the try is under way.
import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { getTaskInstance, listTries, type Database, type TaskInstanceKey } from "@millrace/shared/db";
import { AppError, messageOf } from "@millrace/shared/errors";
import { isFinished } from "@millrace/shared/model";
import { attemptLogPath, silentLogLine } from "@millrace/shared/observability";
import type { Io } from "../io/io.ts";

export interface LogRequest {
  readonly db: Database;
  readonly base: string;
  readonly key: TaskInstanceKey & { readonly mapIndex: number };
  readonly try?: number;
  readonly follow?: boolean;
  readonly json?: boolean;
}

const LOOK_EVERY_MS = 250;

/** @throws AppError TASK_NOT_FOUND or LOG_NOT_FOUND. */
export async function printLog(io: Io, request: LogRequest): Promise<void> {
  const { db, key } = request;
  const first = await getTaskInstance(db, key);
  const tryNumber = request.try ?? Math.max(1, first.tryNumber);
  const path = attemptLogPath(resolve(io.cwd, request.base), { ...key, tryNumber });
  const print = (line: string) => io.out(`${request.json === true ? line : readable(io, line)}\n`);
  let offset = 0;
  let rest = "";
  for (;;) {
    // Asked before reading, so that what was written before the end is read after it.
    const { state, tryNumber: current } = await getTaskInstance(db, key);
    const isOver = request.follow !== true || isFinished(state) || current > tryNumber || state === "up_for_retry";
    const text = await readFrom(path, offset).catch(async (error: unknown) => {
      if (!isOver) return Buffer.alloc(0);
      const tries = current === tryNumber ? [await getTaskInstance(db, key)] : await listTries(db, key);
      const row = tries.find((one) => one.tryNumber === tryNumber);
      if (row?.state === "success") return Buffer.from(`${silentLogLine(row)}\n`);
      throw new AppError("LOG_NOT_FOUND", { ...key, tryNumber, cause: messageOf(error) }, { cause: error });
    });
    offset += text.length;
    const lines = (rest + text.toString("utf8")).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) print(line);
    if (isOver) break;
    await sleep(LOOK_EVERY_MS);
  }
  if (rest !== "") print(rest);
}

async function readFrom(path: string, offset: number): Promise<Buffer> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const buffer = Buffer.alloc(Math.max(0, size - offset));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, offset);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** `time LEVEL event`; a line that is no log entry stays as it is. */
function readable(io: Io, line: string): string {
  try {
    const { timestamp, level, event, ...fields } = JSON.parse(line) as Record<string, unknown>;
    if (typeof event !== "string") return line;
    const name = String(level).toUpperCase();
    const shown = name === "ERROR" ? io.colors.red(event) : name === "WARN" ? io.colors.yellow(event) : event;
    const stack = typeof fields["stack"] === "string" ? `\n${fields["stack"].replace(/^/gm, "    ")}` : "";
    return `${io.colors.dim(String(timestamp))} ${name.padEnd(5)} ${shown}${stack}`;
  } catch {
    return line;
  }
}
