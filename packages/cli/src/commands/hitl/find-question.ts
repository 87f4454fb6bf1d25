import type { Database, QuestionRow } from "@millrace/shared/db";
import { AppError } from "@millrace/shared/errors";
import { findRun } from "../find-run.ts";

/** @throws AppError QUESTION_NOT_FOUND. */
export async function findQuestion(
  db: Database,
  dagId: string,
  run: string,
  taskId: string,
  mapIndex: number,
): Promise<QuestionRow> {
  const { listQuestions } = await import("@millrace/shared/db");
  const { runId } = await findRun({ db }, dagId, run);
  const page = await listQuestions(db, { dagId, runId, taskId, mapIndex, isCurrent: true, limit: 1 });
  if (page.items[0] === undefined) throw new AppError("QUESTION_NOT_FOUND", { dagId, runId, taskId });
  return page.items[0];
}
