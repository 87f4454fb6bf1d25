import { Readable } from "node:stream";
import type { FileHandle } from "node:fs/promises";
import { getTaskInstance, listTries, type Database, type TaskInstanceRow } from "@millrace/shared/db";
import { AppError } from "@millrace/shared/errors";
import { isFinished } from "@millrace/shared/model";
import { silentLogLine } from "@millrace/shared/observability";
import type { FastifyReply } from "fastify";
import { Type } from "typebox";
import type { App, Context } from "../http/app.ts";
import { formatLine, parseLine } from "../logs/log-lines.ts";
import { openLog } from "../logs/open-log.ts";
import { readLogPage } from "../logs/read-log-page.ts";
import { Flag, Int, TaskPath } from "../schemas/common.ts";
import { LogPage } from "../schemas/task-instances.ts";

const NDJSON = "application/x-ndjson";
const NEXT_HEADER = "airflow-continuation-token";

const LogPath = Type.Object({
  ...TaskPath.properties,
  try_number: Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 }),
});
const LogQuery = Type.Object({
  map_index: Int,
  full_content: Flag,
  /** The last page instead of the first. */
  tail: Flag,
  token: Type.Optional(Type.String({ pattern: "^[0-9]{1,15}$" })),
});

export function logRoutes(app: App, { db, config }: Context): void {
  app.get(
    "/api/v2/dags/:dag_id/dagRuns/:dag_run_id/taskInstances/:task_id/logs/:try_number",
    {
      schema: {
        params: LogPath,
        querystring: LogQuery,
        response: { 200: Type.Union([LogPage, Type.String(), Type.Unsafe<Readable>({})]) },
      },
    },
    async ({ params, query, headers }, reply) => {
      const ti = await getTaskInstance(db, {
        dagId: params.dag_id,
        runId: params.dag_run_id,
        taskId: params.task_id,
        mapIndex: query.map_index,
      });
      const tryNumber = params.try_number;
      const finished = hasEnded(ti, tryNumber);
      const file = await openLog(config.logging.base_log_folder, { ...ti, tryNumber });
      if (file === undefined) {
        const line = await silentLine(db, ti, tryNumber);
        if (line === undefined && (finished || tryNumber > ti.tryNumber)) throw logNotFound(ti, tryNumber);
        return await sendLine(reply, headers.accept ?? "*/*", line);
      }
      const accept = headers.accept ?? "*/*";
      if (accept.startsWith("text/plain")) {
        return await reply.type("text/plain; charset=utf-8").send(Readable.from(asText(file)));
      }
      if (accept.startsWith(NDJSON) && query.full_content === true) {
        return await reply.type(NDJSON).send(file.createReadStream());
      }
      try {
        const from = query.tail === true ? "tail" : Number(query.token ?? 0);
        const page = await readLogPage(file, { from, finished });
        const token = finished && page.next >= page.size ? null : String(page.next);
        if (accept.startsWith(NDJSON)) {
          if (token !== null) void reply.header(NEXT_HEADER, token);
          return await reply.type(NDJSON).send(page.lines.map((line) => `${line}\n`).join(""));
        }
        const content = page.lines.map(parseLine);
        return { content, continuation_token: token, start: page.start, size: page.size };
      } finally {
        await file.close();
      }
    },
  );
}

/** For a try that succeeded and said nothing: no file was made for it. */
async function silentLine(db: Database, ti: TaskInstanceRow, tryNumber: number): Promise<string | undefined> {
  const tries = tryNumber === ti.tryNumber ? [ti] : await listTries(db, ti);
  const row = tries.find((one) => one.tryNumber === tryNumber);
  return row?.state === "success" ? silentLogLine(row) : undefined;
}

async function sendLine(reply: FastifyReply, accept: string, line: string | undefined) {
  if (accept.startsWith("text/plain")) {
    return await reply.type("text/plain; charset=utf-8").send(line === undefined ? "" : formatLine(parseLine(line)));
  }
  if (accept.startsWith(NDJSON)) return await reply.type(NDJSON).send(line === undefined ? "" : `${line}\n`);
  return line === undefined
    ? { content: [], continuation_token: "0", start: 0, size: 0 }
    : { content: [parseLine(line)], continuation_token: null, start: 0, size: 0 };
}

/** A task that waits for its next try still carries the number of the one that ended. */
const hasEnded = (ti: TaskInstanceRow, tryNumber: number): boolean =>
  tryNumber < ti.tryNumber || isFinished(ti.state) || ti.state === "up_for_retry";

async function* asText(file: FileHandle): AsyncGenerator<string> {
  for await (const line of file.readLines()) yield formatLine(parseLine(line));
}

const logNotFound = (ti: TaskInstanceRow, tryNumber: number): AppError =>
  new AppError("LOG_NOT_FOUND", {
    tryNumber,
    dagId: ti.dagId,
    taskId: ti.taskId,
    runId: ti.runId,
    cause: "it never ran, or this server does not see the log folder of its worker",
  });
