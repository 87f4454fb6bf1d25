import { answerTask, getTaskInstance, listQuestions, type QuestionFilter, type QuestionRow } from "@millrace/shared/db";
import { AppError } from "@millrace/shared/errors";
import { announce } from "@millrace/shared/queue";
import type { Json } from "@millrace/sdk/spec";
import type { Static } from "typebox";
import { userName } from "../auth/guard.ts";
import type { App, Context } from "../http/app.ts";
import { pageOf } from "../http/paging.ts";
import { instant } from "../present/present-dag.ts";
import { presentTaskInstance } from "../present/present-task-instance.ts";
import {
  Answer,
  AnswerBody,
  Question,
  QuestionCollection,
  QuestionListQuery,
  QuestionPath,
  QuestionTryPath,
  RunPath,
} from "../schemas/questions.ts";

const RUN = "/api/v2/dags/:dag_id/dagRuns/:dag_run_id";
const ONE = `${RUN}/taskInstances/:task_id/:map_index/hitlDetails`;

export function questionRoutes(app: App, { db, broker, config }: Context): void {
  const present = async (question: QuestionRow): Promise<Static<typeof Question>> => ({
    options: [...question.options],
    subject: question.subject,
    body: question.body,
    defaults: question.defaults === null ? null : [...question.defaults],
    multiple: question.multiple,
    params: { ...question.params },
    assigned_users: [...question.assignees],
    created_at: question.createdAt.toISOString(),
    expires_at: instant(question.expiresAt),
    responded_by_user: question.respondedBy,
    responded_at: instant(question.respondedAt),
    chosen_options: question.chosenOptions === null ? null : [...question.chosenOptions],
    params_input: { ...question.paramsInput },
    response_received: question.respondedAt !== null,
    task_instance: presentTaskInstance(await getTaskInstance(db, question)),
  });
  const findOne = async (params: Static<typeof QuestionPath>, more: QuestionFilter) => {
    const { dag_id: dagId, dag_run_id: runId, task_id: taskId, map_index: mapIndex } = params;
    const { items } = await listQuestions(db, { dagId, runId, taskId, mapIndex, limit: 1, ...more });
    if (items[0] === undefined) throw new AppError("QUESTION_NOT_FOUND", { dagId, runId, taskId });
    return await present(items[0]);
  };

  app.get(
    `${RUN}/hitlDetails`,
    { schema: { params: RunPath, querystring: QuestionListQuery, response: { 200: QuestionCollection } } },
    async ({ params, query }) => {
      const page = await listQuestions(db, {
        ...pageOf(query, config.api),
        dagId: params.dag_id,
        runId: params.dag_run_id,
        taskId: query.task_id,
        mapIndex: query.map_index,
        isAnswered: query.response_received,
        orderBy: query.order_by,
        createdAt: {
          gte: date(query.created_at_gte),
          gt: date(query.created_at_gt),
          lte: date(query.created_at_lte),
          lt: date(query.created_at_lt),
        },
      });
      return { hitl_details: await Promise.all(page.items.map(present)), total_entries: page.totalEntries };
    },
  );

  app.get(ONE, { schema: { params: QuestionPath, response: { 200: Question } } }, async ({ params }) =>
    findOne(params, { isCurrent: true }),
  );
  app.get(
    `${ONE}/tries/:try_number`,
    { schema: { params: QuestionTryPath, response: { 200: Question } } },
    async ({ params }) => findOne(params, { tryNumber: params.try_number }),
  );

  app.patch(ONE, { schema: { params: QuestionPath, body: AnswerBody, response: { 200: Answer } } }, async (request) => {
    const { params, body } = request;
    const { question, dagRunIds } = await answerTask(db, {
      dagId: params.dag_id,
      runId: params.dag_run_id,
      taskId: params.task_id,
      mapIndex: params.map_index,
      chosenOptions: body.chosen_options,
      paramsInput: (body.params_input ?? {}) as Readonly<Record<string, Json>>, // it came as JSON
      user: userName(request),
    });
    announce(broker, { dagRunIds, stopped: [] });
    return {
      responded_by: question.respondedBy ?? { id: "", name: "" },
      responded_at: instant(question.respondedAt) ?? "",
      chosen_options: [...(question.chosenOptions ?? [])],
      params_input: { ...question.paramsInput },
    };
  });
}

const date = (text: string | undefined): Date | undefined => (text === undefined ? undefined : new Date(text));
