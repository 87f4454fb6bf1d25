// A person answers what a task asks. The first answer counts: a second, or one that comes after the task stopped waiting,
// is refused.
import type { Json } from "@millrace/sdk/spec";
import { AppError } from "../../errors/index.ts";
import { checkParams } from "../../params/index.ts";
import type { Database } from "../database.ts";
import { listQuestions, type Person, type QuestionRow } from "../reads/questions.ts";
import { answerQuestion } from "../statements/answer-question.ts";
import { defineStatement } from "../statement.ts";
import { insertLog } from "../statements/insert-log.ts";

export interface AnswerRequest {
  readonly dagId: string;
  readonly runId: string;
  readonly taskId: string;
  readonly mapIndex: number;
  readonly chosenOptions: readonly string[];
  readonly paramsInput: Readonly<Record<string, Json>>;
  readonly user: string;
}

export interface Answered {
  readonly question: QuestionRow;
  /** For the broker. */
  readonly dagRunIds: readonly number[];
}

const lockAsking = defineStatement<readonly [id: string], { readonly epoch: number; readonly state: string }>({
  name: "lock-asking",
  sql: `select epoch, coalesce(state, 'none') as state from task_instance where id = $1 for update`,
});

/** @throws AppError QUESTION_NOT_FOUND, QUESTION_CLOSED, ANSWER_INVALID or ANSWER_NOT_ALLOWED. */
export async function answerTask(db: Database, request: AnswerRequest): Promise<Answered> {
  const { dagId, runId, taskId, mapIndex, user } = request;
  const question = await findQuestion(db, request);
  const { values, violations } = judgeAnswer(question, request);
  if (violations.length > 0) throw new AppError("ANSWER_INVALID", { taskId, cause: violations.join("; ") });
  const { assignees } = question;
  if (assignees.length > 0 && !assignees.some((person) => person.id === user || person.name === user)) {
    throw new AppError("ANSWER_NOT_ALLOWED", { taskId, user, assigned: assignees.map((one) => one.name).join(", ") });
  }
  const person: Person = { id: user, name: user };
  const dagRunIds = await db.transaction(
    async (tx) => {
      const [asking] = await tx.run(lockAsking, [question.tiId]);
      const [answered] = await tx.run(answerQuestion, [
        question.tiId,
        asking?.epoch ?? -1,
        JSON.stringify(request.chosenOptions),
        JSON.stringify(values),
        JSON.stringify(person),
      ]);
      if (answered === undefined)
        throw new AppError("QUESTION_CLOSED", { taskId, runId, how: await howClosed(db, request) });
      await tx.run(insertLog, [
        ["answer"],
        [dagId],
        [taskId],
        [runId],
        [mapIndex],
        [question.tryNumber],
        [user],
        [`chose ${request.chosenOptions.join(", ")}`],
      ]);
      return [answered.dagRunId];
    },
    { actor: user },
  );
  return { question: await findQuestion(db, request), dagRunIds };
}

type Key = Pick<AnswerRequest, "dagId" | "runId" | "taskId" | "mapIndex">;

async function findQuestion(db: Pick<Database, "read">, { dagId, runId, taskId, mapIndex }: Key): Promise<QuestionRow> {
  const page = await listQuestions(db, { dagId, runId, taskId, mapIndex, isCurrent: true, limit: 1 });
  const [question] = page.items;
  if (question === undefined) throw new AppError("QUESTION_NOT_FOUND", { dagId, runId, taskId });
  return question;
}

async function howClosed(db: Database, key: Key): Promise<string> {
  const { respondedAt, respondedBy, state } = await findQuestion(db, key);
  if (respondedAt !== null) return `${respondedBy?.name ?? "somebody"} answered at ${respondedAt.toISOString()}`;
  return state === "deferred" ? "it is being changed at this moment" : `its task is ${state} and no longer waits`;
}

function judgeAnswer({ options, multiple, params }: QuestionRow, { chosenOptions, paramsInput }: AnswerRequest) {
  const { values, violations } = checkParams(params, paramsInput);
  const wrong = chosenOptions
    .filter((option) => !options.includes(option))
    .map((option) => `there is no option ${JSON.stringify(option)}; the options are: ${options.join(", ")}`);
  if (chosenOptions.length === 0) wrong.push(`choose one of: ${options.join(", ")}`);
  if (new Set(chosenOptions).size < chosenOptions.length) wrong.push("an option is chosen twice");
  if (chosenOptions.length > 1 && !multiple) wrong.push("only one option may be chosen");
  return { values, violations: [...wrong, ...violations] };
}
