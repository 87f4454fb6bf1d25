import { deleteRun, getRun, markRun, markTasks, noteRun } from "@millrace/shared/db";
import { announce } from "@millrace/shared/queue";
import type { FastifyRequest } from "fastify";
import type { Static } from "typebox";
import { userName } from "../auth/guard.ts";
import type { App, Context } from "../http/app.ts";
import { presentRun } from "../present/present-run.ts";
import { RunPath, TaskPath } from "../schemas/common.ts";
import { MapIndexQuery, MappedPath, PatchRunBody, PatchTaskBody } from "../schemas/history.ts";
import { DagRun } from "../schemas/runs.ts";
import { TaskInstanceCollection } from "../schemas/task-instances.ts";
import { presentOperated } from "../present/present-operated.ts";

const RUN = "/api/v2/dags/:dag_id/dagRuns/:dag_run_id";
const TASK = `${RUN}/taskInstances/:task_id`;

export function markRoutes(app: App, context: Context): void {
  const { db, broker, versions } = context;

  const mark = async (
    request: FastifyRequest,
    params: Static<typeof TaskPath>,
    mapIndex: number | undefined,
    body: Static<typeof PatchTaskBody>,
    dryRun: boolean,
  ) => {
    const operated = await markTasks(db, versions, {
      dagId: params.dag_id,
      runIds: [params.dag_run_id],
      taskIds: [params.task_id],
      ...(mapIndex === undefined ? {} : { mapIndexes: { [params.task_id]: [mapIndex] } }),
      state: body.new_state,
      upstream: body.include_upstream ?? false,
      downstream: body.include_downstream ?? false,
      past: body.include_past ?? false,
      future: body.include_future ?? false,
      runCallbacks: body.run_callbacks ?? true,
      user: userName(request),
      dryRun,
    });
    announce(broker, operated);
    return await presentOperated(db, params.dag_id, operated.tasks);
  };

  for (const dryRun of [false, true]) {
    const end = dryRun ? "/dry_run" : "";
    const response = { 200: TaskInstanceCollection };
    app.patch(
      `${TASK}${end}`,
      { schema: { params: TaskPath, querystring: MapIndexQuery, body: PatchTaskBody, response } },
      async (request) => await mark(request, request.params, request.query.map_index, request.body, dryRun),
    );
    app.patch(
      `${TASK}/:map_index${end}`,
      { schema: { params: MappedPath, body: PatchTaskBody, response } },
      async (request) => await mark(request, request.params, request.params.map_index, request.body, dryRun),
    );
  }

  app.patch(RUN, { schema: { params: RunPath, body: PatchRunBody, response: { 200: DagRun } } }, async (request) => {
    const { dag_id: dagId, dag_run_id: runId } = request.params;
    const { state, note, run_callbacks: runCallbacks = true } = request.body;
    const user = userName(request);
    if (state !== undefined) announce(broker, await markRun(db, versions, { dagId, runId, state, runCallbacks, user }));
    if (note !== undefined) await noteRun(db, { dagId, runId, note, user });
    return presentRun(await getRun(db, dagId, runId));
  });

  app.delete(RUN, { schema: { params: RunPath } }, async (request, reply) => {
    const { dag_id: dagId, dag_run_id: runId } = request.params;
    announce(broker, await deleteRun(db, versions, { dagId, runId, user: userName(request) }));
    return await reply.code(204).send();
  });
}
